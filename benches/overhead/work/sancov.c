/* What programs with SanitizerCoverage call at their start. */
void __sanitizer_cov_bool_flag_init(char *start, char *end)
{
    (void)start;
    (void)end;
}
