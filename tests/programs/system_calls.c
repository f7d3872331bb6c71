/* Makes a system call again and again, each time in a function of its own: COUNT, and the number of
   the call. */

#include <stdlib.h>
#include <unistd.h>

static long number;

__attribute__((noinline)) void call(void)
{
	syscall(number, 0, 0);
}

int main(int count, char **words)
{
	long times = count > 1 ? atol(words[1]) : 1;
	number = count > 2 ? atol(words[2]) : 140;
	for (long i = 0; i < times; i++)
		call();
	return 0;
}
