/* What the tracer knows of the process that it is in, and what a child process has anew. */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "../agreement/agreement.h"
#include "clock.h"
#include "lock.h"
#include "namespace.h"
#include "settings.h"
#include "system.h"

#define PROCESS_SIZE 4096u
/* Of a millisecond, or a little more: a thread needs microseconds. */
#define MOST_LOOKS 2000u

/* In memory that a child process finds filled with zeros. */
struct process {
	/* What each channel has. */
	struct {
		atomic_flag is_dumped;
		/* 0 before it is asked for. */
		atomic_ullong start;
		/* Threads that look for memory to record to. */
		atomic_uint entered;
	} channels[CHANNELS];
	/* These are zero before they are asked for. */
	atomic_uint id;
	atomic_ullong key;
	/* An inode, or NO_NAMESPACE. */
	atomic_ullong pid_namespace;
	/* Not so in a child process. A child of vfork() shares our memory, and is no other
	 * process here. */
	bool is_first;
	struct lock objects;
	struct lock tracepoints;
};

/* In place of an inode that namespace_ask() did not find, so that it is asked for once. */
#define NO_NAMESPACE (~0ull)

static struct process *process;

bool process_begin(void)
{
	if (process)
		return true;
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
	return true;
}

void process_begin_again(uint32_t channel)
{
	atomic_store(&process->channels[channel].start, clock_read());
	atomic_flag_clear(&process->channels[channel].is_dumped);
}

bool process_enter_recording(uint32_t channel)
{
	if (!process)
		return false;
	atomic_fetch_add(&process->channels[channel].entered, 1);
	if (*(volatile bool *) &settings.channels[channel].is_recording)
		return true;
	process_leave_recording(channel);
	return false;
}

void process_leave_recording(uint32_t channel)
{
	atomic_fetch_sub(&process->channels[channel].entered, 1);
}

bool process_wait_for_recording(uint32_t channel)
{
	static const struct timespec pause = {.tv_nsec = 1000000};

	atomic_thread_fence(memory_order_seq_cst);
	for (unsigned int looks = 0; looks < MOST_LOOKS; looks++) {
		if (!atomic_load(&process->channels[channel].entered))
			return true;
		system_sleep(&pause);
	}
	return false;
}

bool process_is_begun(void)
{
	return process;
}

bool process_must_dump(uint32_t channel)
{
	return process && !atomic_flag_test_and_set(&process->channels[channel].is_dumped);
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

uint64_t process_start_time(uint32_t channel)
{
	atomic_ullong *start = &process->channels[channel].start;
	const uint64_t known = atomic_load_explicit(start, memory_order_relaxed);

	return known ? known : settle(start, clock_read());
}

uint64_t process_pid_namespace(void)
{
	uint64_t found = atomic_load_explicit(&process->pid_namespace, memory_order_relaxed);

	if (!found) {
		found = namespace_ask("pid_ns");
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
