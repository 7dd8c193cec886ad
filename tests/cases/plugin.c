int plugin_work(int n);
int plugin_work(int n)
{
    if (n == 1)
        return 7; // @loads
    return 8; // @uses
}
