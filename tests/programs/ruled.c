/*
 * Calls functions and allocates memory, in the same order each time, so that rules can be
 * compared by what they take.
 */
#include <stdlib.h>

static void *volatile kept;

__attribute__((noinline)) void allocate(size_t size)
{
	kept = malloc(size);
	free(kept);
}

__attribute__((noinline)) void clear(size_t count, size_t size)
{
	kept = calloc(count, size);
	kept = realloc(kept, count * size + 1);
	free(kept);
}

__attribute__((noinline)) int inner(int number)
{
	return number + 1;
}

__attribute__((noinline)) int outer(int number)
{
	return number % 2 ? inner(number) + inner(number) : number;
}

int main(void)
{
	int sum = 0;

	for (int number = 0; number < 12; number++) {
		sum += outer(number) + inner(number);
		allocate((size_t) number * 1000);
		clear((size_t) number % 4 + 1, 8);
	}
	return sum == 0;
}
