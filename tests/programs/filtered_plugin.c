/* A plugin whose functions are called; each build of it has another one first. */
#define APART __attribute__((noinline))
#ifndef FIRST
#define FIRST first
#endif

static volatile int counter;

APART void FIRST(void)
{
	counter++;
}

static APART void helper(void)
{
	counter++;
}

void plugin_entry(void)
{
	FIRST();
	helper();
}
