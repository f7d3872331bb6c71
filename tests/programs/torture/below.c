/* A library that plugin.c needs, and finds by its RUNPATH. */

long torture_below(volatile long *counter);

long torture_below(volatile long *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
	return 1;
}
