/* Tells of its functions, and of those of a library that it loads, whether their entries were rewritten
 * to a jump. Compiled as a library with -DLIBRARY. */
#include <dlfcn.h>
#include <stdio.h>

#define APART __attribute__((noinline, noclone))
#define JUMP 0xE9

/* What changes it is called each time. */
volatile long calls;

#ifdef LIBRARY
#define NAME(name) later_##name
#else
#define NAME(name) name
#endif

APART void NAME(chosen)(void)
{
	calls += 2;
}

APART void NAME(left)(void)
{
	calls += 3;
}

APART void NAME(probed)(void)
{
	calls += 5;
}

#ifndef LIBRARY
static void tell(const char *name, void (*function)(void))
{
	function();
	printf("%s %d\n", name, *(const volatile unsigned char *) function == JUMP);
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	tell("chosen", chosen);
	tell("left", left);
	tell("probed", probed);
	if (!library)
		return 1;
	tell("later_chosen", (void (*)(void)) dlsym(library, "later_chosen"));
	tell("later_left", (void (*)(void)) dlsym(library, "later_left"));
	return 0;
}
#endif
