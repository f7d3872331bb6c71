/* A library that loads plugins by a name which only its own RUNPATH leads to. */
#include <dlfcn.h>

void *open_for_me(const char *name)
{
	return dlopen(name, RTLD_NOW);
}
