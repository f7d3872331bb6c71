/*
 * ordered: does what lines of its standard input say, and answers each with a line.
 *
 *   N     emit ordered:step N times
 *   tN    let two new threads do that
 *   cN    call getpriority(2) N times, each between two times ordered:step
 *   lN    emit ordered:line N times, with texts of 0 to N - 1 letters
 *   fork  let a child process do what the rest of the input says; it is waited for
 *   left  emit it, and end with status 5 if that changed what the C library has of the thread
 *   vfork emit it three times in a child process that has the memory of this one
 *   exec  begin anew, with the rest of the input
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ordered_tp.h"

static void *emit(void *count)
{
	for (long number = 0; number < (long) count; number++)
		lttng_ust_tracepoint(ordered, step, number);
	return NULL;
}

static void emit_around_calls(long count)
{
	for (long number = 0; number < count; number++) {
		lttng_ust_tracepoint(ordered, step, 2 * number);
		getpriority(PRIO_PROCESS, 0);
		lttng_ust_tracepoint(ordered, step, 2 * number + 1);
	}
}

static void emit_lines(long count)
{
	char *text = calloc((size_t) count + 1, 1);

	if (!text)
		exit(3);
	for (long number = 0; number < count; number++) {
		lttng_ust_tracepoint(ordered, line, number, text);
		text[number] = (char) ('a' + number % 26);
	}
	free(text);
}

static void emit_in_threads(long count)
{
	pthread_t threads[2];

	for (int one = 0; one < 2; one++)
		if (pthread_create(&threads[one], NULL, emit, (void *) count) != 0)
			exit(3);
	for (int one = 0; one < 2; one++)
		pthread_join(threads[one], NULL);
}

/* What is where it would be if the thread had an area of rseq(2) at its pointer. */
static int emit_changes_thread(void)
{
	char before[32];

	memcpy(before, __builtin_thread_pointer(), sizeof(before));
	emit((void *) 1);
	return memcmp(before, __builtin_thread_pointer(), sizeof(before)) != 0;
}

static void emit_after_vfork(void)
{
	const pid_t child = vfork();

	if (!child) {
		emit((void *) 3);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int count, char **words)
{
	char line[64];
	size_t length = 0;
	int status = 0;

	(void) count;
	/* Without a buffer, so that what is not read is there for the next program. */
	while (read(0, &line[length], 1) == 1) {
		if (line[length] != '\n') {
			length = length + 1 < sizeof(line) - 1 ? length + 1 : length;
			continue;
		}
		line[length] = '\0';
		length = 0;
		if (!strcmp(line, "fork")) {
			if (fork() && (wait(&status) < 0 || status != 0))
				return 2;
		} else if (!strcmp(line, "left")) {
			if (emit_changes_thread())
				return 5;
		} else if (!strcmp(line, "vfork")) {
			emit_after_vfork();
		} else if (!strcmp(line, "exec")) {
			execv("/proc/self/exe", words);
			return 4;
		} else if (line[0] == 'c') {
			emit_around_calls(atol(line + 1));
		} else if (line[0] == 'l') {
			emit_lines(atol(line + 1));
		} else if (line[0] == 't') {
			emit_in_threads(atol(line + 1));
		} else {
			emit((void *) atol(line));
		}
		printf("%s\n", line);
		fflush(stdout);
	}
	return 0;
}
