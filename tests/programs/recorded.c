/*
 * What a program may do while it is recorded; the first argument says what:
 *
 *   calls N          N calls in one thread
 *   threads N        N calls in each of eight threads
 *   series N         N threads of ten calls each, one after another
 *   turns            such a thread for each line of the input, answered when it has ended
 *   crowd N          N threads of ten calls each, all there at once
 *   fork N           N child processes with ten calls each
 *   signals N        N calls, interrupted by a signal handler that calls, too
 *   jump N           the same, and some of the handlers leave by siglongjmp()
 *   blocked N        N calls in a thread that may write no file, then in one that may
 *   forever          calls until somebody ends it
 *   exit N           ends with status N after one call
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static __thread volatile long counter;
static sigjmp_buf place;
static volatile sig_atomic_t may_jump;
static volatile long handled;

APART void leaf(void)
{
	counter++;
}

APART void in_handler(void)
{
	handled++;
}

APART void handler(int number)
{
	(void) number;
	in_handler();
	if (may_jump && handled % 3 == 0)
		siglongjmp(place, 1);
}

APART void *work(void *count)
{
	for (long index = 0; index < (long) count; index++)
		leaf();
	return NULL;
}

static __attribute__((no_instrument_function)) void live_through(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, (void *) 10);
	pthread_join(thread, NULL);
}

static __attribute__((no_instrument_function)) void turns(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		live_through();
		fputs(line, stdout);
		fflush(stdout);
	}
}

static pthread_barrier_t barrier;

static __attribute__((no_instrument_function)) void *meet(void *count)
{
	work(count);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static __attribute__((no_instrument_function)) void crowd(long number)
{
	pthread_t *threads = calloc((size_t) number, sizeof(*threads));

	pthread_barrier_init(&barrier, NULL, (unsigned int) number);
	for (long index = 0; index < number; index++)
		pthread_create(&threads[index], NULL, meet, (void *) 10);
	for (long index = 0; index < number; index++)
		pthread_join(threads[index], NULL);
	free(threads);
}

static void interrupt(int is_on)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, is_on ? 50 : 0}, {0, is_on ? 50 : 0}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "calls";
	long number = count > 2 ? atol(words[2]) : 1;

	if (!strcmp(what, "threads")) {
		pthread_t threads[8];

		for (int index = 0; index < 8; index++)
			pthread_create(&threads[index], NULL, work, (void *) number);
		for (int index = 0; index < 8; index++)
			pthread_join(threads[index], NULL);
	} else if (!strcmp(what, "series")) {
		for (long index = 0; index < number; index++)
			live_through();
	} else if (!strcmp(what, "turns")) {
		turns();
	} else if (!strcmp(what, "crowd")) {
		crowd(number);
	} else if (!strcmp(what, "fork")) {
		for (long index = 0; index < number; index++) {
			if (fork() == 0) {
				work((void *) 10);
				_exit(0);
			}
		}
		while (wait(NULL) > 0)
			;
	} else if (!strcmp(what, "signals")) {
		interrupt(1);
		work((void *) number);
		interrupt(0);
	} else if (!strcmp(what, "jump")) {
		volatile long done = 0;

		interrupt(1);
		sigsetjmp(place, 1);
		may_jump = 1;
		while (done < number) {
			done++;
			leaf();
		}
		may_jump = 0;
		interrupt(0);
	} else if (!strcmp(what, "blocked")) {
		struct rlimit limit;
		rlim_t before;
		pthread_t thread;

		getrlimit(RLIMIT_FSIZE, &limit);
		before = limit.rlim_cur;
		for (int index = 0; index < 2; index++) {
			limit.rlim_cur = index == 0 ? 1 : before;
			setrlimit(RLIMIT_FSIZE, &limit);
			pthread_create(&thread, NULL, work, (void *) number);
			pthread_join(thread, NULL);
		}
	} else if (!strcmp(what, "forever")) {
		printf("ready\n");
		fflush(stdout);
		for (;;)
			leaf();
	} else {
		work((void *) (strcmp(what, "exit") ? number : 1));
	}
	printf("%ld handled\n", handled);
	return strcmp(what, "exit") ? 0 : (int) number;
}
