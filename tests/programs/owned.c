/*
 * Changes its credentials and namespaces, and after each change makes an event that tells
 * what they are. What needs privileges is left out without them.
 */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "owned_tp.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *step)
{
	static const char *const names[] = {
		"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts",
	};
	uint32_t ids[6] = {0};
	uint64_t inodes[8] = {0};
	uid_t users[3];
	gid_t groups[3];

	getresuid(&users[0], &users[1], &users[2]);
	getresgid(&groups[0], &groups[1], &groups[2]);
	for (int kind = 0; kind < 3; kind++) {
		ids[2 * kind] = users[kind];
		ids[2 * kind + 1] = groups[kind];
	}
	for (int kind = 0; kind < 8; kind++) {
		struct stat status;
		char path[64];

		snprintf(path, sizeof(path), "/proc/thread-self/ns/%s", names[kind]);
		if (stat(path, &status) == 0)
			inodes[kind] = status.st_ino;
	}
	lttng_ust_tracepoint(owned, now, step, ids, inodes, getpid(),
			     (int) syscall(SYS_gettid), (uint64_t) pthread_self());
}

static void *in_thread(void *step)
{
	tell(step);
	return NULL;
}

static void start_thread(char *step)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, step) == 0)
		pthread_join(thread, NULL);
}

static void in_child(const char *step, void (*change)(void))
{
	const pid_t child = fork();

	if (child == 0) {
		tell(step);
		change();
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void drop(void)
{
	if (setgid(65534) == 0)
		tell("setgid");
	if (setuid(65534) == 0)
		tell("setuid");
}

static void nothing(void)
{
}

int main(void)
{
	const int host = open("/proc/self/ns/uts", O_RDONLY);

	tell("start");
	start_thread("thread");
	in_child("child", drop);
	if (setegid(65534) == 0)
		tell("setegid");
	if (seteuid(65533) == 0)
		tell("seteuid");
	if (seteuid(0) == 0)
		tell("seteuid back");
	if (setregid(0, 0) == 0)
		tell("setregid");
	if (setresgid(5, 0, 7) == 0)
		tell("setresgid");
	if (setresuid(5, 0, 7) == 0)
		tell("setresuid");
	if (setreuid(0, 0) == 0)
		tell("setreuid");
	if (unshare(CLONE_NEWUTS | CLONE_NEWIPC) == 0)
		tell("unshare");
	if (setns(host, CLONE_NEWUTS) == 0)
		tell("setns");
	start_thread("thread again");
	if (unshare(CLONE_NEWPID) == 0)
		in_child("child in a namespace", nothing);
	return 0;
}
