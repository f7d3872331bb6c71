/*
 * Calls step() 5 times, gives up a right, calls it CALLS times more, and then 100 times
 * in a new thread. The arguments say which right:
 *
 *   free CALLS           none
 *   user CALLS           those of root: it goes on as nobody
 *   chroot DIR CALLS     all files: DIR is its root, it may open none, it is nobody
 *   forbid NAME CALLS    the system call NAME: the kernel kills who makes it
 */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define NOBODY 65534
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *name;
	long number;
} system_calls[] = {
	{"fallocate", SYS_fallocate},
	{"ftruncate", SYS_ftruncate},
	{"futex", SYS_futex},
	{"getpid", SYS_getpid},
	{"gettid", SYS_gettid},
	{"munmap", SYS_munmap},
	{"openat", SYS_openat},
	{"prlimit64", SYS_prlimit64},
	{"pwrite64", SYS_pwrite64},
};

static int is_done;

__attribute__((noinline)) int step(int number)
{
	__asm__ volatile("");
	return number + 1;
}

static void *thread(void *unused)
{
	int sum = 0;
	for (int index = 0; index < 100; index++)
		sum = step(sum);
	__atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
	return unused;
}

PLAIN static void require(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	_exit(3);
}

PLAIN static void become_nobody(void)
{
	require(setgid(NOBODY) == 0, "setgid");
	require(setuid(NOBODY) == 0, "setuid");
}

PLAIN static void lose_files(const char *directory)
{
	struct rlimit three = {3, 3};
	require(chroot(directory) == 0, "chroot");
	require(chdir("/") == 0, "chdir");
	require(setrlimit(RLIMIT_NOFILE, &three) == 0, "setrlimit");
	become_nobody();
}

PLAIN static void forbid(const char *name)
{
	unsigned number = 0;
	for (size_t index = 0; index < COUNT(system_calls); index++)
		if (strcmp(system_calls[index].name, name) == 0)
			number = (unsigned)system_calls[index].number;
	require(number != 0, name);
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {COUNT(filter), filter};
	require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
	require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

int main(int count, char **arguments)
{
	pthread_t other;
	int sum = 0;
	require(count > 2, "arguments");
	int calls = atoi(arguments[count - 1]);
	for (int index = 0; index < 5; index++)
		sum = step(sum);
	if (strcmp(arguments[1], "user") == 0)
		become_nobody();
	else if (strcmp(arguments[1], "chroot") == 0)
		lose_files(arguments[2]);
	else if (strcmp(arguments[1], "forbid") == 0)
		forbid(arguments[2]);
	for (int index = 0; index < calls; index++)
		sum = step(sum);
	require(pthread_create(&other, NULL, thread, NULL) == 0, "pthread_create");
	/* To join it would be a system call, which may be forbidden. */
	while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE))
		__asm__ volatile("");
	require(write(1, "done\n", 5) == 5, "write");
	_exit(0);
}
