/*
 * A plugin for loading.c. Compiled with -DNAME=alpha, its functions are alpha_run and so on;
 * with -DDEPENDS=bravo it calls bravo_run of another.
 */
#include <stdlib.h>

#define JOIN(one, other) one##_##other
#define NAMED(name, part) JOIN(name, part)

void NAMED(NAME, step)(void)
{
}

#ifdef DEPENDS
void NAMED(DEPENDS, run)(void);
#endif

/* Set by a program that wants to do something while the plugin is being loaded. */
void (*while_loading)(void) __attribute__((weak));

__attribute__((constructor)) void NAMED(NAME, begin)(void)
{
	NAMED(NAME, step)();
	if (&while_loading && while_loading)
		while_loading();
}

__attribute__((destructor)) void NAMED(NAME, end)(void)
{
	NAMED(NAME, step)();
}

void NAMED(NAME, run)(void)
{
	NAMED(NAME, step)();
#ifdef DEPENDS
	NAMED(DEPENDS, run)();
#endif
}

/* What every plugin has under one name. */
void plugin_run(void)
{
	NAMED(NAME, run)();
}
