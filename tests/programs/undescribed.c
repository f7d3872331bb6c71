/* Calls without file descriptors, N of them, then with them: what the tracer must read to
 * know a function cannot be read at its first call. */
#include <stdlib.h>
#include <sys/resource.h>

static volatile long counter;

__attribute__((noinline)) void leaf(void)
{
	counter++;
}

__attribute__((no_instrument_function)) int main(int count, char **words)
{
	const long number = count > 1 ? atol(words[1]) : 1;
	struct rlimit limit;
	rlim_t before;

	getrlimit(RLIMIT_NOFILE, &limit);
	before = limit.rlim_cur;
	for (int round = 0; round < 2; round++) {
		limit.rlim_cur = round == 0 ? 0 : before;
		setrlimit(RLIMIT_NOFILE, &limit);
		for (long index = 0; index < number; index++)
			leaf();
	}
	return 0;
}
