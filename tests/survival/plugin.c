int plugin_work(int n);
int plugin_work(int n)
{
    if (n > 0)
        return 3; // @plugin
    return 4; // @
}
