/*
 * Unloads a provider, the first argument, while a thread is in one of its probes; the second
 * says how, the third how often.
 */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#include "leaving_tp.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *provider;
static sem_t is_in;
static sem_t may_leave;

static void unload(void)
{
	if (provider)
		dlclose(provider);
	provider = NULL;
}

static int closes(int number)
{
	unload();
	return number;
}

static int waits(int number)
{
	sem_post(&is_in);
	sem_wait(&may_leave);
	return number;
}

static int ends(int number)
{
	sem_post(&is_in);
	pthread_exit(NULL);
	return number;
}

static int forks(int number)
{
	const pid_t child = fork();

	if (child == 0) {
		unload();
		return number + 1;
	}
	waitpid(child, NULL, 0);
	return number;
}

static void *pass(void *ask)
{
	lttng_ust_tracepoint(leaving, asked, (asked_function *) ask, 1);
	return NULL;
}

static void pass_in_thread(asked_function *ask, int is_unloaded)
{
	pthread_t thread;

	pthread_create(&thread, NULL, pass, (void *) ask);
	sem_wait(&is_in);
	if (is_unloaded)
		unload();
	sem_post(&may_leave);
	pthread_join(thread, NULL);
}

int main(int count, char **words)
{
	const char *how = count > 3 ? words[2] : "";

	sem_init(&is_in, 0, 0);
	sem_init(&may_leave, 0, 0);
	for (int turn = 0; turn < (count > 3 ? atoi(words[3]) : 0); turn++) {
		provider = dlopen(words[1], RTLD_NOW);
		if (!provider) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		if (!strcmp(how, "closes"))
			pass((void *) closes);
		else if (!strcmp(how, "forks"))
			pass((void *) forks);
		else if (!strcmp(how, "waits"))
			pass_in_thread(waits, 1);
		else if (!strcmp(how, "ends"))
			pass_in_thread(ends, 0);
		lttng_ust_tracepoint(leaving, plain, turn);
		unload();
	}
	return 0;
}
