/*
 * Calls step() 1000 times, runs the first argument as a command of the shell, without
 * the tracer, and calls step() 1000 times again.
 */
#include <stdlib.h>

__attribute__((noinline)) void step(void)
{
	__asm__ volatile("");
}

int main(int count, char **arguments)
{
	for (int index = 0; index < 1000; index++)
		step();
	unsetenv("LD_PRELOAD");
	unsetenv("LD_AUDIT");
	int status = count > 1 ? system(arguments[1]) : 0;
	for (int index = 0; index < 1000; index++)
		step();
	return status != 0;
}
