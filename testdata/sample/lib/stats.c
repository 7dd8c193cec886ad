/* stats.c: sum, mean, median, deviation, range and histogram. */
#include "stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds with a correction term, so that small numbers are not lost beside large ones. */
double stats_sum(double *values, size_t count)
{
    double sum = 0.0, lost = 0.0;
    size_t i;

    for (i = 0; i < count; i++) {
        double item = values[i] - lost;
        double next = sum + item;

        lost = (next - sum) - item;
        sum = next;
    }
    return sum;
}

double stats_mean(double *values, size_t count)
{
    assert(count > 0);
    return stats_sum(values, count) / (double)count;
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return a < b ? -1 : a > b;
}

/* The middle of the values, which are put in order. */
double stats_median(double *values, size_t count)
{
    size_t middle = count / 2;

    assert(count > 0);
    qsort(values, count, sizeof(*values), compare_numbers);
    if (count % 2 == 0)
        return (values[middle - 1] + values[middle]) / 2.0;
    return values[middle];
}

/* The standard deviation of a sample. */
double stats_deviation(double *values, size_t count)
{
    double mean, squares = 0.0;
    size_t i = 0;

    if (count < 2)
        return 0.0;
    mean = stats_mean(values, count);
    do {
        double distance = values[i] - mean;

        squares += distance * distance;
        i++;
    } while (i < count);
    return sqrt(squares / (double)(count - 1));
}

void stats_range(const double *values, size_t count, double *low, double *high)
{
    size_t i;

    assert(count > 0);
    *low = *high = values[0];
    for (i = 1; i < count; i++) {
        if (values[i] < *low)
            *low = values[i];
        else if (values[i] > *high)
            *high = values[i];
    }
}

/* Sorts the values into bins of equal width; the highest value is in the last bin. */
void stats_histogram(const double *values, size_t count, size_t bin_count, Histogram *histogram)
{
    double low, high;
    size_t i, bin;

    assert(bin_count > 0 && bin_count <= MAX_BINS);
    memset(histogram, 0, sizeof(*histogram));
    stats_range(values, count, &low, &high);
    histogram->low = low;
    histogram->bin_count = high > low ? bin_count : 1;
    histogram->width = (high - low) / (double)histogram->bin_count;
    for (i = 0; i < count; i++) {
        bin = histogram->width > 0.0 ? (size_t)((values[i] - low) / histogram->width) : 0;
        if (bin >= histogram->bin_count)
            bin = histogram->bin_count - 1;
        if (++histogram->counts[bin] > histogram->peak)
            histogram->peak = histogram->counts[bin];
    }
}
