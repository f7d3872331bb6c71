/*
 * confining HOW THREADS EVENTS: emits EVENTS, confines itself, and emits as many from each thread,
 * of which there are THREADS beside the first. HOW: "prctl", "seccomp" or "number" (prctl by its number) filter all
 * system calls but three, "tsync" for all threads, "library" by libseccomp; "strict" is the mode
 * of that name; "child" filters those of a child of vfork() alone, which ends then. It begins when it reads a byte, says "confined", and goes on with the next.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WITH_LIBRARY
#include <seccomp.h>
#endif

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ordered_tp.h"

#define MOST_THREADS 16

static atomic_int begun, confined, done;
static long events;

static void emit(long first)
{
	for (long number = first; number < first + events; number++)
		lttng_ust_tracepoint(ordered, step, number);
}

static void *run(void *unused)
{
	emit(0);
	atomic_fetch_add(&begun, 1);
	while (!atomic_load(&confined))
		;
	emit(events);
	atomic_fetch_add(&done, 1);
	/* To end needs more system calls. */
	for (;;)
		;
	return unused;
}

static int filter(const char *how)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(steps) / sizeof(*steps), steps};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	if (!strcmp(how, "prctl"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	if (!strcmp(how, "number"))
		return (int) syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	return (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     strcmp(how, "tsync") ? 0 : SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static int filter_by_library(void)
{
#ifdef WITH_LIBRARY
	const int calls[] = {SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(exit_group)};
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_KILL_PROCESS);

	for (int index = 0; index < 3; index++)
		if (seccomp_rule_add(context, SCMP_ACT_ALLOW, calls[index], 0) != 0)
			return -1;
	return seccomp_load(context);
#else
	return -1;
#endif
}

/* A child that has the memory of this process. */
static int filter_child(void)
{
	const pid_t child = vfork();
	int status;

	if (child == 0)
		_exit(filter("prctl") == 0 ? 0 : 1);
	return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static int confine(const char *how)
{
	if (!strcmp(how, "child"))
		return filter_child();
	if (!strcmp(how, "strict"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return strcmp(how, "library") ? filter(how) : filter_by_library();
}

int main(int count, char **words)
{
	const int threads = count == 4 ? atoi(words[2]) : MOST_THREADS + 1;
	pthread_t made;
	char byte;

	if (threads > MOST_THREADS)
		return 2;
	events = atol(words[3]);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 3;
	for (int index = 0; index < threads; index++)
		if (pthread_create(&made, NULL, run, NULL) != 0)
			return 4;
	emit(0);
	while (atomic_load(&begun) < threads)
		;
	if (confine(words[1]) != 0)
		return 5;
	if (write(STDOUT_FILENO, "confined\n", 9) != 9)
		return 6;
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 7;
	atomic_store(&confined, 1);
	emit(events);
	while (atomic_load(&done) < threads)
		;
	if (!strcmp(words[1], "strict"))
		syscall(SYS_exit, 0);
	return 0;
}
