/*
 * crowded: libraries of a folder, CROWD, are loaded before anything else of the program runs, each of
 * which wants memory of every thread for good: 0.so, 1.so, and so on, CROWD_COUNT of them. Where
 * that is more than the C library has room for, it says how many it has loaded, and ends.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* Before the program looks for the tracer. */
static __attribute__((constructor(110))) void crowd(void)
{
	const char *folder = getenv("CROWD");
	const char *wanted = getenv("CROWD_COUNT");
	const int count = wanted ? atoi(wanted) : 0;

	for (int number = 0; folder && number < count; number++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%d.so", folder, number);
		if (dlopen(path, RTLD_NOW))
			continue;
		fprintf(stderr, "%s\n", dlerror());
		printf("%d\n", number);
		exit(4);
	}
}
