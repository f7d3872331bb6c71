/* Makes a system call again and again, each time in a function of its own: COUNT, the number of the
   call, and the microseconds of a pause after each. */

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
	const unsigned int pause = count > 3 ? (unsigned int) atol(words[3]) : 0;

	for (long i = 0; i < times; i++) {
		call();
		if (pause > 0)
			usleep(pause);
	}
	return 0;
}
