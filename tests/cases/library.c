int library_work(int n);
int library_work(int n)
{
    if (n == 1)
        return 7; // @one
    return 8; // @two
}
