/* Tells of events that match rules of triggers. */
#define _GNU_SOURCE
#include "telling.h"

#include <stdatomic.h>
#include <limits.h>

#include "../base/system.h"

/* Away from the numbers that programs use and count on. */
#define HIGH_DESCRIPTOR 900

/* A daemon that is told. */
static struct listener {
	/* Negative: none. */
	atomic_int pipe;
	/* Of the pipe: a program that closes all descriptors may have another file there. */
	_Atomic ino_t inode;
	uint64_t *_Atomic counters;
} listeners[WATCH_SOURCES] = {{.pipe = -1}, {.pipe = -1}};

_Static_assert(WATCH_SOURCES == 2, "each has no pipe at first");
/* Then it is written as a whole, or not. */
_Static_assert(LARGEST_MATCH <= PIPE_BUF, "a match");

static atomic_bool is_stopped;

static bool is_there(struct listener *listener, int file)
{
	struct stat status;

	return file >= 0 && system_fstat(file, &status) && S_ISFIFO(status.st_mode) &&
		status.st_ino == atomic_load(&listener->inode);
}

/* Take a pipe; where there is one already, it has its number, since threads may use that. */
static void take_pipe(struct listener *listener, int pipe)
{
	const int before = atomic_load(&listener->pipe);
	struct stat status;
	long number = -1;

	if (!system_fstat(pipe, &status))
		return;
	if (is_there(listener, before))
		number = system_call(SYS_dup3, pipe, before, O_CLOEXEC, 0, 0, 0);
	if (number < 0)
		number = system_call(SYS_fcntl, pipe, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR, 0, 0, 0);
	atomic_store(&listener->inode, status.st_ino);
	atomic_store(&listener->pipe, (int) number);
}

/* Those from before stay where they are: threads may count there. */
static void take_counters(struct listener *listener, int file)
{
	const size_t size = MOST_WATCHES * sizeof(uint64_t);
	struct stat status;
	uint64_t *counters = NULL;

	if (system_fstat(file, &status) && status.st_size >= (off_t) size)
		counters = system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file);
	if (counters)
		atomic_store(&listener->counters, counters);
}

void telling_take(unsigned int source, int pipe, int counters)
{
	take_counters(&listeners[source], counters);
	take_pipe(&listeners[source], pipe);
}

bool telling_is_begun(unsigned int source)
{
	return atomic_load(&listeners[source].pipe) >= 0;
}

void telling_stop(void)
{
	atomic_store(&is_stopped, true);
}

static void count_lost(struct listener *listener, uint32_t counter)
{
	uint64_t *counters = atomic_load(&listener->counters);

	if (counters)
		__atomic_fetch_add(&counters[counter], 1, __ATOMIC_RELAXED);
}

static void send_match(const struct watch *watch, const struct match_head *match)
{
	struct listener *listener = &listeners[watch->source];
	const int pipe = atomic_load(&listener->pipe);
	const size_t size = sizeof(*match) + match->size;

	if (atomic_load(&is_stopped) || !is_there(listener, pipe) ||
	    system_call(SYS_write, pipe, (long) match, (long) size, 0, 0, 0) != (long) size)
		count_lost(listener, watch->counter);
}

static APART void send_with_captures(const struct watch_list *list, const struct watch *watch,
				     const struct vestige_value *values, const void *ip)
{
	struct {
		struct match_head head;
		char bytes[LARGEST_MATCH - sizeof(struct match_head)];
	} match;

	match.head = (struct match_head) {.token = watch->token};
	match.head.size = (uint32_t) captures_write(&list->captures[watch->first_capture],
						    watch->capture_count, values, ip, match.bytes,
						    sizeof(match.bytes));
	send_match(watch, &match.head);
}

void telling_tell(const struct watch_list *list, const struct watch *watch,
		  const struct vestige_value *values, const void *ip)
{
	const struct match_head match = {.token = watch->token};

	if (watch->capture_count)
		send_with_captures(list, watch, values, ip);
	else
		send_match(watch, &match);
}
