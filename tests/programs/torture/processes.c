/* Processes: how they come to be, and become others. */
#define _GNU_SOURCE
#include "torture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

APART static void storm(int depth)
{
	calls(5);
	if (!depth)
		return;
	for (int index = 0; index < 3; index++) {
		if (fork() == 0) {
			storm(depth - 1);
			reap();
			_exit(0);
		}
	}
	reap();
}

APART void mode_storm(void)
{
	storm((int) number);
}

APART static void *forking_thread(void *argument)
{
	for (long index = 0; index < number; index++) {
		const pid_t child = fork();

		calls(2);
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	return argument;
}

APART void mode_forking_threads(void)
{
	in_threads(4, forking_thread, NULL);
}

static volatile sig_atomic_t forks;
static volatile sig_atomic_t is_child;

APART static void forking_handler(int signal)
{
	(void) signal;
	if (is_child || forks >= number)
		return;
	forks++;
	/* The second is the one that a handler may call. */
	if ((forks % 2 ? fork() : _Fork()) == 0)
		is_child = 1;
}

/* The child goes on where the handler interrupted its parent. */
APART void mode_fork_in_handler(void)
{
	every(ITIMER_REAL, SIGALRM, forking_handler, SA_RESTART, 300);
	while (forks < number && !is_child)
		leaf();
	if (is_child)
		child_ends(0);
	every(ITIMER_REAL, SIGALRM, SIG_IGN, 0, 0);
	reap();
	say("forks", forks);
}

APART void mode_vfork(void)
{
	for (volatile long index = 0; index < number; index++) {
		int status = 0;
		pid_t child;

		calls(1);
		child = vfork();
		if (child == 0) {
			calls(5);
			if (index % 2)
				execl("/bin/true", "true", NULL);
			_exit(7);
		}
		calls(1);
		waitpid(child, &status, 0);
		if (WEXITSTATUS(status) != (index % 2 ? 0 : 7))
			say("status", status);
	}
}

/* The first call of the thread is that of the child. */
APART static void *vforking_thread(void *argument)
{
	const pid_t child = vfork();

	if (child == 0) {
		calls(5);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	calls(2);
	return argument;
}

APART void mode_vfork_in_thread(void)
{
	for (long index = 0; index < number; index++)
		in_threads(1, vforking_thread, NULL);
}

APART static int cloned(void *argument)
{
	calls((long) argument);
	_exit(5);
}

APART static void clone_with(int flags, long count)
{
	const size_t size = 64 << 10;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const pid_t child = clone(cloned, stack + size, flags | SIGCHLD, (void *) count);
	int status = 0;

	calls(count);
	waitpid(child, &status, 0);
	say("status", WEXITSTATUS(status));
	munmap(stack, size);
}

APART void mode_clone(void)
{
	clone_with(CLONE_VM | CLONE_VFORK, number);
	clone_with(CLONE_FILES | CLONE_FS, number);
	clone_with(0, number);
}

/* Both run at once, and have one thread pointer. */
APART void mode_clone_shared(void)
{
	clone_with(CLONE_VM, number);
	calls(number);
}

APART void mode_raw_fork(void)
{
	for (long index = 0; index < number; index++) {
		const long child = index % 2 ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : _Fork();

		calls(2);
		if (child == 0 && index % 3 == 0) {
			if (_Fork() == 0)
				child_ends(0);
			reap();
		}
		if (child == 0)
			_exit(0);
		reap();
	}
}

APART void mode_spawn(void)
{
	char *const words[] = {(char *) self, "calls", "10", NULL};
	char command[4200];
	char line[64];

	snprintf(command, sizeof(command), "%s calls 10", self);
	for (long index = 0; index < number; index++) {
		int status = -1;
		pid_t child;
		FILE *pipe;

		posix_spawn(&child, self, NULL, NULL, words, environ);
		waitpid(child, &status, 0);
		say("spawned", status);
		say("system", system(command));
		pipe = popen(command, "r");
		while (pipe && fgets(line, sizeof(line), pipe))
			dprintf(1, "popen %s", line);
		say("pclose", pclose(pipe));
	}
}

APART void mode_exec(void)
{
	char text[24];

	calls(3);
	if (!number)
		return;
	snprintf(text, sizeof(text), "%ld", number - 1);
	execl(self, self, "exec", text, NULL);
}

APART static void *exec_thread(void *argument)
{
	usleep(3000);
	execl(self, self, "calls", "10", NULL);
	return argument;
}

APART void mode_exec_from_thread(void)
{
	pthread_t thread;

	many_forever();
	pthread_create(&thread, NULL, exec_thread, NULL);
	pthread_join(thread, NULL);
}
