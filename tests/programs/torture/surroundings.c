/* Descriptors, directories, users, limits and filters. */
#define _GNU_SOURCE
#include "torture.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

APART void mode_dlopen(void)
{
	const char *name = getenv("TORTURE_PLUGIN");
	long total = 0;

	for (long index = 0; index < number; index++) {
		void *plugin = dlopen(name, index % 2 ? RTLD_NOW : RTLD_LAZY);
		long (*function)(volatile long *);

		if (!plugin) {
			dprintf(1, "%s\n", dlerror());
			return;
		}
		*(void **) &function = dlsym(plugin, "plugin_call");
		total += function(counter);
		dlclose(plugin);
	}
	say("plugin", total);
}

APART void mode_descriptors(void)
{
	const int null = open("/dev/null", O_RDWR);
	long wrong = 0;

	calls(100);
	syscall(SYS_close_range, 3, ~0u, 0);
	calls(number);
	for (int file = 3; file < 40; file++)
		dup2(1, file);
	calls(number);
	for (int file = 3; file < 40; file++)
		wrong += close(file) != 0;
	calls(number);
	say("next", open("/dev/null", O_RDONLY) - null);
	say("wrong", wrong);
}

APART void mode_chdir(void)
{
	calls(number);
	say("chdir", chdir("/"));
	calls(number);
}

APART void mode_chroot(void)
{
	char empty[] = "/tmp/torture-XXXXXX";

	calls(number);
	if (!mkdtemp(empty))
		return;
	say("chroot", chroot(empty) || chdir("/"));
	calls(number);
	if (fork() == 0)
		child_ends(0);
	reap();
	in_threads(2, calling_thread, (void *) number);
}

APART void mode_setuid(void)
{
	calls(number);
	say("setuid", setgid(65534) || setuid(65534));
	calls(number);
	if (fork() == 0)
		child_ends(0);
	reap();
	in_threads(2, calling_thread, (void *) number);
}

APART void mode_umask(void)
{
	umask(0777);
	calls(number);
	in_threads(2, calling_thread, (void *) number);
	if (fork() == 0)
		child_ends(0);
	reap();
}

APART static void limit(int which, rlim_t value)
{
	struct rlimit both;

	getrlimit(which, &both);
	both.rlim_cur = value;
	say("limit", setrlimit(which, &both));
}

APART static void limited_work(void)
{
	calls(number);
	in_threads(1, calling_thread, (void *) number);
	if (fork() == 0)
		child_ends(0);
	reap();
	calls(number);
}

APART void mode_nofile(void)
{
	limit(RLIMIT_NOFILE, 3);
	limited_work();
}

APART void mode_fsize(void)
{
	calls(number);
	limit(RLIMIT_FSIZE, 20000);
	limited_work();
	limit(RLIMIT_FSIZE, 0);
	limited_work();
}

APART void mode_nproc(void)
{
	limit(RLIMIT_NPROC, 0);
	calls(number);
}

/* What is mapped now, and room for nothing. */
APART void mode_as(void)
{
	calls(10);
	limit(RLIMIT_AS, 4096);
	calls(number);
	say("mmap", mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			    MAP_FAILED);
	if (fork() == 0)
		child_ends(0);
	reap();
	calls(number);
}

static const int optional_calls[] = {
	SYS_madvise, SYS_prctl, SYS_fallocate, SYS_prlimit64, SYS_openat, SYS_pwrite64,
	SYS_ftruncate, SYS_fchmod, SYS_faccessat, SYS_unlinkat, SYS_readlinkat, SYS_gettid,
};

/* Refuse calls of a list, from the first to the last. */
APART static void refuse(int first, int last, unsigned int answer)
{
	struct sock_filter filter[64] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	unsigned short length = 1;
	struct sock_fprog program = {.filter = filter};

	for (int index = first; index < last; index++) {
		filter[length++] = (struct sock_filter) BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned int) optional_calls[index], 0, 1);
		filter[length++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, answer);
	}
	filter[length++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = length;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		say("no filter", errno);
}

APART static void filtered_child(int first, int last, unsigned int answer)
{
	if (fork() == 0) {
		refuse(first, last, answer);
		calls(number);
		in_threads(1, calling_thread, (void *) number);
		if (fork() == 0)
			child_ends(0);
		reap();
		_exit(0);
	}
	reap();
}

APART void mode_seccomp(void)
{
	const int count = sizeof(optional_calls) / sizeof(optional_calls[0]);

	for (int index = 0; index < count; index++)
		filtered_child(index, index + 1, SECCOMP_RET_ERRNO | (index % 2 ? EPERM : ENOSYS));
	filtered_child(0, count, SECCOMP_RET_ERRNO | EPERM);
}

/* Nothing but read, write and the end of the thread is allowed then. */
APART void mode_strict(void)
{
	if (fork() == 0) {
		calls(10);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		calls(number);
		write(1, "strict\n", 7);
		syscall(SYS_exit, 0);
	}
	reap();
}

APART static void refused_handler(int signal, siginfo_t *info, void *context)
{
	(void) signal;
	(void) info;
	leaf();
#if defined(__x86_64__)
	((ucontext_t *) context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	(void) context;
#endif
}

APART void mode_trap(void)
{
	struct sigaction action = {.sa_sigaction = refused_handler, .sa_flags = SA_SIGINFO};
	const int count = sizeof(optional_calls) / sizeof(optional_calls[0]);

	sigaction(SIGSYS, &action, NULL);
	filtered_child(0, count, SECCOMP_RET_TRAP);
}
