/* A system call behind some functions, and behind more than a stack has room for. */
#include <stdlib.h>

enum { GETPRIORITY = 140, DEEP = 20 };

__attribute__((noinline)) long inner(void)
{
	long result;

	/* The C library has no frame pointers. */
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(GETPRIORITY), "D"(0), "S"(0)
			 : "rcx", "r11", "memory");
	return result;
}

__attribute__((noinline)) long outer(void)
{
	return inner() + 1;
}

__attribute__((noinline)) long down(int depth)
{
	return depth ? down(depth - 1) + 1 : inner() + 1;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	long sum = 0;

	for (int number = 0; number < count; number++)
		sum += outer() + down(DEEP);
	return sum == 0;
}
