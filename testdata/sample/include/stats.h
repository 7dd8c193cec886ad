/* stats.h: numbers that describe many numbers. */
#ifndef TALLY_STATS_H
#define TALLY_STATS_H

#include <stddef.h>

#define MAX_BINS 40

typedef struct {
    double low;
    double width;
    size_t bin_count;
    size_t peak; /* the count of the fullest bin */
    size_t counts[MAX_BINS];
} Histogram;

double stats_sum(double *values, size_t count);
double stats_mean(double *values, size_t count);
double stats_median(double *values, size_t count);
double stats_deviation(double *values, size_t count);
void stats_range(const double *values, size_t count, double *low, double *high);
void stats_histogram(const double *values, size_t count, size_t bin_count, Histogram *histogram);

#endif
