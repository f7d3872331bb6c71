/* reload DIR [ROUNDS]: loads DIR/libalpha.so and DIR/libbravo.so in turn, never both at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "reload_tp.h"

static int use_library(const char *directory, const char *name, int round)
{
	char path[4096];
	struct link_map *map;

	snprintf(path, sizeof(path), "%s/lib%s.so", directory, name);
	void *handle = dlopen(path, RTLD_NOW);
	if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	lttng_ust_tracepoint(reload, loaded, name, (void *) map->l_addr);
	void (*run)(int) = (void (*)(int)) dlsym(handle, "library_run");
	for (int i = 0; i < 3; i++)
		run(round * 10 + i);
	dlclose(handle);
	return dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 3;

	if (argc < 2)
		return 2;
	for (int round = 0; round < rounds; round++)
		if (use_library(argv[1], "alpha", round) || use_library(argv[1], "bravo", round))
			return 1;
	return 0;
}
