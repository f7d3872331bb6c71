/*
 * outing PLUGIN: a little of all that a recording can hold: calls, tracepoints in two
 * processes, a plugin that comes and goes, a second thread.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "outing_tp.h"

static int walk(int steps)
{
	lttng_ust_tracepoint(outing, walked, steps, "path");
	return steps ? 1 + walk(steps - 1) : 0;
}

static void *rest(void *argument)
{
	walk(1);
	return argument;
}

static void visit(const char *plugin)
{
	void *handle = dlopen(plugin, RTLD_NOW);
	void (*run)(void);

	if (!handle)
		exit(2);
	*(void **) &run = dlsym(handle, "plugin_run");
	run();
	dlclose(handle);
}

static void part(void)
{
	int status = 0;
	const pid_t child = fork();

	if (child == 0) {
		walk(2);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		exit(3);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 2 || pthread_create(&thread, NULL, rest, NULL))
		return 1;
	pthread_join(thread, NULL);
	walk(3);
	visit(argv[1]);
	part();
	return 0;
}
