/* What mode dlopen of the torture program loads and unloads: traced constructors and destructors. */

extern long torture_below(volatile long *counter);

long plugin_call(volatile long *counter);

static volatile long unused;

static __attribute__((noinline, constructor)) void begin(void)
{
	unused++;
}

static __attribute__((noinline, destructor)) void end(void)
{
	unused--;
}

long plugin_call(volatile long *counter)
{
	__atomic_fetch_add(counter, 3, __ATOMIC_RELAXED);
	return torture_below(counter);
}
