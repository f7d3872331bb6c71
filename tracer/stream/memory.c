/*
 * The memory of streams, by the slots of their threads.
 *
 * A thread that has claimed a slot knows by that that the thread before it has ended: the
 * kernel says so, and nobody asks the threads themselves. So what the one before in this
 * process had is free, and no thread gives anything back.
 */
#define _GNU_SOURCE
#include "memory.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "../base/system.h"
#include "scratch.h"

/* Threads that may begin to record after the program has begun to filter its system calls. */
#define RESERVED 64u

static size_t page_size;
/* In memory that a child process finds filled with zeros: it has none of the threads. */
static struct stream *_Atomic *streams;
/* Those that were made ahead, and how many of them were taken. */
static char *reserved;
static atomic_uint reserved_taken;

/* A stack, a page for the stream, and drafts. */
static size_t stream_bytes(void)
{
	return SCRATCH_SIZE + page_size +
		(sizeof(struct drafts) + page_size - 1) / page_size * page_size;
}

static char *make(unsigned int count)
{
	const size_t size = count * stream_bytes();
	char *place = system_mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	/* A stack is none that a child process may find filled with zeros, nor is what a record
	 * is made of. */
	for (unsigned int index = 0; place && index < count; index++) {
		if (system_madvise(place + index * stream_bytes() + SCRATCH_SIZE, page_size,
				   MADV_WIPEONFORK))
			continue;
		system_munmap(place, size);
		place = NULL;
	}
	return place;
}

static struct stream *stream_at(char *place)
{
	return place ? (struct stream *) (void *) (place + SCRATCH_SIZE) : NULL;
}

static struct stream *take_reserved(void)
{
	unsigned int index;

	if (!reserved || atomic_load(&reserved_taken) >= RESERVED)
		return NULL;
	index = atomic_fetch_add(&reserved_taken, 1);
	return index < RESERVED ? stream_at(reserved + index * stream_bytes()) : NULL;
}

bool stream_memory_start(uint32_t slots)
{
	const size_t size = (slots + 1) * sizeof(*streams);

	page_size = (size_t) sysconf(_SC_PAGESIZE);
	_Static_assert(sizeof(struct stream) <= 4096, "a stream is a page");
	streams = system_mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (streams && !system_madvise(streams, size, MADV_WIPEONFORK)) {
		system_munmap(streams, size);
		streams = NULL;
	}
	return streams;
}

struct drafts *stream_memory_drafts(struct stream *stream)
{
	return (struct drafts *) (void *) ((char *) stream + page_size);
}

/* What the thread before had begun will not be appended. */
static void clear(struct stream *stream)
{
	memset(stream, 0, sizeof(*stream));
	drafts_clear(stream_memory_drafts(stream));
}

void stream_memory_note(uint32_t slot, struct stream *stream)
{
	atomic_store_explicit(&streams[slot], stream, memory_order_relaxed);
}

struct stream *stream_memory_at(uint32_t slot)
{
	return atomic_load_explicit(&streams[slot], memory_order_relaxed);
}

struct stream *stream_memory_take(uint32_t slot)
{
	struct stream *stream = stream_memory_at(slot);

	if (stream)
		clear(stream);
	else
		stream = stream_at(make(1));
	if (!stream)
		stream = take_reserved();
	if (stream)
		stream_memory_note(slot, stream);
	return stream;
}

void stream_memory_reserve(void)
{
	if (!reserved)
		reserved = make(RESERVED);
}
