/*
 * What programs do to their threads, processes, stacks, signals, descriptors and limits.
 *
 *   torture MODE N
 *
 * Only the functions marked TRACED are instrumented. Each call of one is counted in the
 * file that TORTURE_COUNTER names, which all processes map: as many entries and exits are
 * expected in a recording. Nothing that depends on time is printed.
 */
#define _GNU_SOURCE
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long *counter;
const char *self;
long number;

APART static void map_counter(void)
{
	const char *name = getenv("TORTURE_COUNTER");
	const int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;

	if (file >= 0) {
		counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		close(file);
	} else {
		counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			       -1, 0);
	}
	if (counter == MAP_FAILED)
		_exit(99);
}

TRACED void leaf(void)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

TRACED void deep(long depth)
{
	volatile char room[256];

	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
	room[0] = 1;
	if (depth)
		deep(depth - 1);
	room[1] = room[0];
}

APART void calls(long count)
{
	while (count--)
		leaf();
}

APART void reap(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

APART void say(const char *text, long value)
{
	dprintf(1, "%s %ld\n", text, value);
}

APART void child_ends(int status)
{
	calls(3);
	_exit(status);
}

APART void *calling_thread(void *argument)
{
	calls((long) argument);
	return NULL;
}

APART void in_threads(int count, void *(*function)(void *), void *argument)
{
	pthread_t threads[16];

	for (int index = 0; index < count; index++)
		pthread_create(&threads[index], NULL, function, argument);
	for (int index = 0; index < count; index++)
		pthread_join(threads[index], NULL);
}

APART void every(int which, int signal, void (*handler)(int), int flags, long micros)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	struct itimerval often = {{0, micros}, {0, micros}};

	sigaction(signal, &action, NULL);
	setitimer(which, &often, NULL);
}

APART static void *forever(void *argument)
{
	for (;;)
		leaf();
	return argument;
}

APART void many_forever(void)
{
	pthread_t thread;

	for (int index = 0; index < 3; index++)
		pthread_create(&thread, NULL, forever, NULL);
	usleep(2000);
}

APART static void mode_calls(void)
{
	calls(number);
	say("calls", number);
}

APART static void mode_thread(void)
{
	in_threads(8, calling_thread, (void *) number);
}

static const struct {
	const char *name;
	void (*function)(void);
} modes[] = {
	{"abort", mode_abort},
	{"altstack", mode_altstack},
	{"as", mode_as},
	{"bare-exit", mode_bare_exit},
	{"calls", mode_calls},
	{"cancel", mode_cancel},
	{"cancel-anywhere", mode_cancel_anywhere},
	{"chdir", mode_chdir},
	{"chroot", mode_chroot},
	{"clone", mode_clone},
	{"clone-shared", mode_clone_shared},
	{"coroutines", mode_coroutines},
	{"descriptors", mode_descriptors},
	{"dlopen", mode_dlopen},
	{"exec", mode_exec},
	{"exec-from-thread", mode_exec_from_thread},
	{"exit-running", mode_exit_running},
	{"exit-threads", mode_exit_threads},
	{"fork-in-handler", mode_fork_in_handler},
	{"forking-threads", mode_forking_threads},
	{"fsize", mode_fsize},
	{"jump", mode_jump},
	{"keys", mode_keys},
	{"kill", mode_kill},
	{"late-signals", mode_late_signals},
	{"main-exits", mode_main_exits},
	{"nofile", mode_nofile},
	{"nproc", mode_nproc},
	{"overflow", mode_overflow},
	{"preempted", mode_preempted},
	{"quick-exit", mode_quick_exit},
	{"raw-fork", mode_raw_fork},
	{"seccomp", mode_seccomp},
	{"setuid", mode_setuid},
	{"signals", mode_signals},
	{"small-stacks", mode_small_stacks},
	{"spawn", mode_spawn},
	{"state", mode_state},
	{"storm", mode_storm},
	{"strict", mode_strict},
	{"threads", mode_thread},
	{"trap", mode_trap},
	{"umask", mode_umask},
	{"vfork", mode_vfork},
	{"vfork-in-thread", mode_vfork_in_thread},
};

APART int main(int count, char **words)
{
	self = words[0];
	number = count > 2 ? atol(words[2]) : 1;
	map_counter();
	for (size_t index = 0; index < sizeof(modes) / sizeof(modes[0]); index++) {
		if (count > 1 && !strcmp(words[1], modes[index].name)) {
			modes[index].function();
			say("done", number);
			return 0;
		}
	}
	return 98;
}
