/* Starting to trace, in a program and in each child that it forks. */
#define _GNU_SOURCE
#include "process.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "../agreement/agreement.h"
#include "budget.h"
#include "context.h"
#include "lock.h"
#include "objects.h"
#include "rules.h"
#include "settings.h"
#include "shared_thread.h"
#include "stream.h"
#include "system.h"

#define PROCESS_SIZE 4096u

/* In memory that a child process finds filled with zeros. */
struct process {
	atomic_flag is_dumped;
	atomic_uint id;
	atomic_ullong lost;
	/* Zero before it is asked for. */
	atomic_ullong key;
	/* A number and 1. */
	atomic_uint pid_space;
	/* Not so in a child process. A child of vfork() shares our memory, and is no other
	 * process here. */
	bool is_first;
	struct lock objects;
	struct lock tracepoints;
};

static struct process *process;
/* A mapped file. */
static struct losses *losses;
#define PID_SPACES (sizeof(losses->pid_spaces) / sizeof(losses->pid_spaces[0]))
/* In place of an inode: nothing tells it. */
#define NO_NAMESPACE ((int64_t) -1)
static atomic_flag is_begun = ATOMIC_FLAG_INIT;

void process_seen(void)
{
	if (process && !atomic_flag_test_and_set(&process->is_dumped))
		objects_dump();
	else
		objects_wait();
}

void process_lock_objects(void)
{
	if (process)
		lock_take(&process->objects);
}

void process_unlock_objects(void)
{
	if (process)
		lock_release(&process->objects);
}

void process_lock_tracepoints(void)
{
	if (process)
		lock_take(&process->tracepoints);
}

void process_unlock_tracepoints(void)
{
	if (process)
		lock_release(&process->tracepoints);
}

bool process_is_followed(void)
{
	return settings.follow_fork || (process && process->is_first);
}

void process_count_lost(void)
{
	if (process)
		atomic_fetch_add_explicit(&process->lost, 1, memory_order_relaxed);
	if (losses)
		atomic_fetch_add_explicit(&losses->count, 1, memory_order_relaxed);
}

uint64_t process_take_lost(void)
{
	uint64_t lost = 0;

	if (process)
		lost = atomic_exchange_explicit(&process->lost, 0, memory_order_relaxed);
	if (lost && losses)
		atomic_fetch_sub_explicit(&losses->count, (int64_t) lost, memory_order_relaxed);
	return lost;
}

bool process_is_ours(void)
{
	const unsigned int present = system_getpid();
	unsigned int known = 0;

	/* Another thread may be beginning. */
	if (!process)
		return false;
	/* A child of fork() as a bare system call has no ID yet. */
	return atomic_compare_exchange_strong(&process->id, &known, present) || known == present;
}

uint64_t process_key(void)
{
	unsigned long long none = 0;
	unsigned long long key = 0;

	if (process)
		key = atomic_load_explicit(&process->key, memory_order_relaxed);
	if (key)
		return key;
	key = (unsigned long long) system_getpid() << 32 | 1;
	if (process && !atomic_compare_exchange_strong(&process->key, &none, key))
		key = none;
	return key;
}

/* The place of a namespace in the mapped file; the last one when there are too many. */
static unsigned int find_pid_space(void)
{
	const uint64_t inode = losses ? context_ask_namespace("pid_ns") : 0;
	const int64_t wanted = inode ? (int64_t) inode : NO_NAMESPACE;
	unsigned int number = 0;

	for (; losses && number < PID_SPACES - 1; number++) {
		int64_t known = 0;

		if (atomic_compare_exchange_strong(&losses->pid_spaces[number], &known, wanted) ||
		    known == wanted)
			break;
	}
	return number;
}

unsigned int process_pid_space(void)
{
	unsigned int none = 0;
	unsigned int found;

	if (!process)
		return 0;
	found = atomic_load_explicit(&process->pid_space, memory_order_relaxed);
	if (!found) {
		found = find_pid_space() + 1;
		if (!atomic_compare_exchange_strong(&process->pid_space, &none, found))
			found = none;
	}
	return found - 1;
}

void process_change_key(void)
{
	if (process && atomic_load(&process->key))
		atomic_fetch_add(&process->key, 1);
}

typedef pid_t fork_function(void);

/* fork() without handlers: that of POSIX for signal handlers, which may have interrupted us. */
__attribute__((visibility("default"))) fork_function _Fork;

static fork_function *original_fork;

static void after_fork(void)
{
	process_is_ours();
	shared_thread_end();
	stream_after_fork();
}

/* Early: a handler must not be the first to look for it. */
static __attribute__((constructor(101))) void find_fork(void)
{
	if (!original_fork)
		*(void **) &original_fork = dlsym(RTLD_NEXT, "_Fork");
}

pid_t _Fork(void)
{
	pid_t child;

	find_fork();
	if (!original_fork) {
		errno = ENOSYS;
		return -1;
	}
	child = original_fork();
	if (child == 0 && process)
		after_fork();
	return child;
}

/* src/vestige/record/losses.py makes the file, and tells what is in it. */
static void map_losses(void)
{
	char name[PATH_MAX + 8];
	int file;

	snprintf(name, sizeof(name), "%s/" LOSSES_FILE, settings.directory);
	file = system_open(name, O_RDWR | O_NOFOLLOW);
	if (file < 0)
		return;
	losses = system_mmap(NULL, sizeof(*losses), PROT_READ | PROT_WRITE, MAP_SHARED, file);
	system_close(file);
}

static bool begin(void)
{
	process = system_mmap(NULL, PROCESS_SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!process)
		return false;
	if (!system_madvise(process, PROCESS_SIZE, MADV_WIPEONFORK)) {
		system_munmap(process, PROCESS_SIZE);
		process = NULL;
		return false;
	}
	process_is_ours();
	process->is_first = true;
	if (!budget_start())
		return false;
	map_losses();
	rules_start();
	streams_start();
	/* Where there is no memory for it, a child process is traced all the same. */
	pthread_atfork(NULL, NULL, after_fork);
	return true;
}

void process_start(void)
{
	/* An address that the dynamic linker fills in: it calls resolvers of indirect
	 * functions, which may be traced, before it has got to this library. */
	static struct settings *const volatile linked = &settings;

	/* The C library fills in the environment when it begins. */
	if (linked != &settings || !environ || atomic_flag_test_and_set(&is_begun))
		return;
	if (!settings_read() || !begin()) {
		settings_stop();
		return;
	}
	objects_start();
}

/* Where nothing was traced before: constructors of other libraries come first. */
static __attribute__((constructor(101))) void start(void)
{
	process_start();
}
