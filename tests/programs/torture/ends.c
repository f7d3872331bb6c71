/* How threads and processes end. */
#define _GNU_SOURCE
#include "torture.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

APART static void *exiting_thread(void *argument)
{
	leaf();
	pthread_exit(argument);
}

APART static void *cancelled_late(void *argument)
{
	for (;;) {
		leaf();
		pthread_testcancel();
	}
	return argument;
}

static volatile int is_cancelled;

/* Not a cancellation point, whatever the hook does. */
APART static void *cancelled_between(void *argument)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	*(volatile int *) argument = 1;
	while (!is_cancelled)
		usleep(100);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	calls(2000);
	*(volatile int *) argument = 2;
	pthread_testcancel();
	return NULL;
}

APART static void *cancelled_anywhere(void *argument)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		leaf();
	return argument;
}

APART static void cancel(void *(*function)(void *), volatile int *reached)
{
	pthread_t thread;
	void *result = NULL;

	is_cancelled = 0;
	pthread_create(&thread, NULL, function, (void *) reached);
	usleep(500);
	while (reached && !*reached)
		usleep(100);
	pthread_cancel(thread);
	is_cancelled = 1;
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED)
		say("not cancelled", 1);
}

APART void mode_exit_threads(void)
{
	for (long index = 0; index < number; index++)
		in_threads(4, exiting_thread, NULL);
}

APART void mode_cancel(void)
{
	for (long index = 0; index < number; index++) {
		volatile int reached = 0;

		cancel(cancelled_late, NULL);
		cancel(cancelled_between, &reached);
		say("reached", reached);
	}
}

APART void mode_cancel_anywhere(void)
{
	for (long index = 0; index < number; index++)
		cancel(cancelled_anywhere, NULL);
}

APART void mode_main_exits(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, calling_thread, (void *) number);
	pthread_detach(thread);
	calls(3);
	pthread_exit(NULL);
}

TRACED void late(void)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

APART void mode_exit_running(void)
{
	atexit(late);
	many_forever();
	exit(3);
}

APART void mode_quick_exit(void)
{
	at_quick_exit(late);
	many_forever();
	quick_exit(4);
}

APART void mode_bare_exit(void)
{
	calls(number);
	_exit(5);
}

APART void mode_abort(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	calls(number);
	abort();
}

APART void mode_kill(void)
{
	calls(number);
	kill(getpid(), SIGKILL);
}

static pthread_key_t keys[3];

/* Sets itself again, until the C library gives up. */
TRACED void key_destructor(void *value)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
	pthread_setspecific(keys[(long) value - 1], value);
	calls(3);
}

APART static void *keyed_thread(void *argument)
{
	for (long index = 0; index < 3; index++)
		pthread_setspecific(keys[index], (void *) (index + 1));
	leaf();
	return argument;
}

APART void mode_keys(void)
{
	for (int index = 0; index < 3; index++)
		pthread_key_create(&keys[index], key_destructor);
	for (long index = 0; index < number; index++)
		in_threads(4, keyed_thread, NULL);
}

