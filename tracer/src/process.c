/* Starting to trace, in a program and in each child that it forks. */
#define _GNU_SOURCE
#include "process.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "../arena/map.h"
#include "clock.h"
#include "context.h"
#include "lock.h"
#include "objects.h"
#include "passage.h"
#include "perf_counter.h"
#include "rules.h"
#include "settings.h"
#include "shared_thread.h"
#include "stream.h"
#include "system.h"

#define PROCESS_SIZE 4096u

/* In memory that a child process finds filled with zeros. */
struct process {
	atomic_flag is_dumped;
	/* These three are zero before they are asked for. */
	atomic_uint id;
	atomic_ullong start;
	atomic_ullong key;
	/* An inode, or NO_NAMESPACE. */
	atomic_ullong pid_namespace;
	/* Not so in a child process. A child of vfork() shares our memory, and is no other
	 * process here. */
	bool is_first;
	struct lock objects;
	struct lock tracepoints;
};

/* In place of an inode: nothing tells it. */
#define NO_NAMESPACE (~0ull)

static struct process *process;
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

/* The value that the first thread finds that asks for it. */
static unsigned long long settle(atomic_ullong *place, unsigned long long found)
{
	unsigned long long none = 0;

	return atomic_compare_exchange_strong(place, &none, found) ? found : none;
}

/* Of this thread, without a system call: the C library notes who has a mutex. */
static uint32_t ask_library(void)
{
#if defined(__GLIBC__)
	pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

	if (mtx_trylock((mtx_t *) (void *) &mutex) == thrd_success)
		return (uint32_t) mutex.__data.__owner;
#endif
	return 0;
}

uint32_t process_id(void)
{
	unsigned int id = atomic_load_explicit(&process->id, memory_order_relaxed);
	unsigned int none = 0;

	if (id)
		return id;
	id = system_getpid();
	/* Only the thread of a child process that has forked comes here then, and that is the
	 * process. */
	if (!id)
		id = ask_library();
	return atomic_compare_exchange_strong(&process->id, &none, id) ? id : none;
}

uint64_t process_start_time(void)
{
	const uint64_t known = atomic_load_explicit(&process->start, memory_order_relaxed);

	return known ? known : settle(&process->start, clock_read());
}

uint64_t process_pid_namespace(void)
{
	uint64_t found = atomic_load_explicit(&process->pid_namespace, memory_order_relaxed);

	if (!found) {
		found = context_ask_namespace("pid_ns");
		found = settle(&process->pid_namespace, found ? found : NO_NAMESPACE);
	}
	return found == NO_NAMESPACE ? 0 : found;
}

void process_thread_name(char *name)
{
	const char *program = program_invocation_short_name;
	char found[PROCNAME_SIZE] = "";

	for (size_t length = 0; length < sizeof(found) - 1 && program[length]; length++)
		found[length] = program[length];
	system_thread_name(found);
	/* In two stores: a sanitizer would look at a function of the C library, and take memory
	 * that another thread had before for shared. */
	memcpy(name, found, sizeof(found));
}

uint64_t process_key(void)
{
	const uint64_t known = atomic_load_explicit(&process->key, memory_order_relaxed);

	return known ? known : settle(&process->key, (uint64_t) process_id() << 32 | 1);
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

static void before_fork(void)
{
	passage_before_fork();
	stream_before_fork();
}

static void after_fork(void)
{
	process_id();
	shared_thread_end();
	passage_after_fork();
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
	if (process)
		before_fork();
	child = original_fork();
	if (child == 0 && process)
		after_fork();
	return child;
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
	process_id();
	process->is_first = true;
	if (!arena_map(&settings.arena) || !streams_start())
		return false;
	settings.is_overwriting = arena.is_overwriting;
	rules_start();
	perf_counters_start();
	/* Where there is no memory for it, a child process is traced all the same. */
	pthread_atfork(before_fork, NULL, after_fork);
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
