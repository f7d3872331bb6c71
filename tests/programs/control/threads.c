/*
 * Calls the library from several threads at once, and from a child of a process with threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "checks.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define TURNS 10

static void *work(void *number)
{
	struct lttng_session *sessions;
	struct lttng_triggers *triggers;
	char name[32];

	snprintf(name, sizeof(name), "of-%ld", (long) number);
	for (int i = 0; i < TURNS; i++) {
		lttng_set_tracing_group("tracing");
		CHECK_CODE(lttng_create_session(name, NULL), 0);
		CHECK(lttng_list_sessions(&sessions) > 0);
		free(sessions);
		CHECK_CODE(lttng_list_triggers(&triggers), LTTNG_OK);
		lttng_triggers_destroy(triggers);
		CHECK_CODE(lttng_destroy_session(name), 0);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int status = 0;

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *) i);
	if (fork() == 0) {
		work((void *) (long) THREADS);
		_exit(failures != 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	wait(&status);
	CHECK(status == 0);
	return failures != 0;
}
