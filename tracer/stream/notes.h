/*
 * What a thread notes of itself, whatever the channel.
 *
 * It is in the memory of its first stream, and not where the C library has what belongs to each thread:
 * of that, a program that loads us while it runs has little to spare.
 */
#ifndef VESTIGE_STREAM_NOTES_H
#define VESTIGE_STREAM_NOTES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "../base/settings.h"

/* Handlers that interrupt between the look at filters and the record, one in the other. */
#define MOST_PASSED 8u
/* Children that run in our memory at the same time. */
#define MOST_CHILDREN 8
#define NAMESPACES 8
#define CREDENTIALS 6
/* Different counters of a process: of all channels, and of filters. */
#define MOST_OPEN_COUNTERS 32u

struct perf_event_mmap_page;
struct route;
struct stream;
struct vestige_event;

/* What the filters of an event said, until its record begins. */
struct passed {
	const struct vestige_event *event;
	const struct route *route;
	uint32_t bits;
};

/* Contexts that the thread was told, as long as the key is that of the process. */
struct known_contexts {
	uint64_t key;
	/* Which members are there, by bits of enum context. */
	uint32_t is_there;
	uint32_t vtid;
	uint32_t credentials[CREDENTIALS];
	uint64_t namespaces[NAMESPACES];
	char procname[PROCNAME_SIZE + 1];
};

/* Where it reads its counters, and of which process it was then. */
struct open_counters {
	uint64_t process;
	struct perf_event_mmap_page *pages[MOST_OPEN_COUNTERS];
	/* Counters that could not be opened are not tried again. */
	uint32_t is_tried;
	/* How often the thread's end was told. */
	unsigned int rounds;
};

/* While it has no streams, see shared_thread.c. */
struct paused_streams {
	struct stream *streams[CHANNELS];
	/* Each the ID of a child that runs. */
	atomic_int children[MOST_CHILDREN];
	/* Whether a child runs whose end nobody tells. */
	bool is_forever;
};

/* Of the thread while it forks. */
struct before_fork {
	/* By channels, the chunk in which a record is announced; 0: none is. */
	uint32_t interrupted_chunks[CHANNELS];
	/* See passage.c. */
	uintptr_t inside;
	unsigned long nesting;
};

struct notes {
	struct known_contexts known;
	struct open_counters counters;
	struct passed passed[MOST_PASSED];
	uint64_t passed_count;
	struct paused_streams paused;
	struct before_fork before_fork;
};

#endif
