/* Build with -finstrument-functions: a small call tree, without any tracepoint of its own. */
#include <stdio.h>

__attribute__((noinline)) static unsigned int leaf(unsigned int number)
{
	return number * 2654435761u;
}

__attribute__((noinline)) static unsigned int fold(unsigned int depth)
{
	unsigned int sum = leaf(depth);

	if (depth > 0)
		sum += fold(depth - 1);
	return sum;
}

__attribute__((noinline)) static unsigned int many(unsigned int times)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < times; i++)
		sum ^= fold(i % 5);
	return sum;
}

int main(void)
{
	return printf("%u\n", many(40)) < 0;
}
