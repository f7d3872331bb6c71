/* Starting to trace, in a program and in each child that it forks. */
#define _GNU_SOURCE
#include "process.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "objects.h"
#include "settings.h"

/* In memory that a child process finds filled with zeros. */
struct process {
	atomic_flag is_dumped;
	atomic_ullong lost;
	/* Not so in a child process. A child of vfork() shares our memory, and is no other
	 * process here. */
	bool is_first;
};

static struct process *process;
static atomic_bool has_started;

void process_seen(void)
{
	if (process && !atomic_flag_test_and_set(&process->is_dumped))
		objects_dump();
}

bool process_is_followed(void)
{
	return settings.follow_fork || (process && process->is_first);
}

void process_count_lost(void)
{
	if (process)
		atomic_fetch_add_explicit(&process->lost, 1, memory_order_relaxed);
}

uint64_t process_take_lost(void)
{
	return process ? atomic_exchange_explicit(&process->lost, 0, memory_order_relaxed) : 0;
}

__attribute__((constructor(101))) void process_start(void)
{
	if (atomic_exchange_explicit(&has_started, true, memory_order_relaxed))
		return;
	if (!settings_read())
		return;
	process = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (process == MAP_FAILED) {
		process = NULL;
		settings_stop();
		return;
	}
	madvise(process, 4096, MADV_WIPEONFORK);
	process->is_first = true;
	streams_start();
	objects_start();
}
