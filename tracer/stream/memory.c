/*
 * The memory of streams, by the slots of their threads.
 *
 * A thread that has claimed a slot knows by that that the thread before it has ended: the
 * kernel says so, and nobody asks the threads themselves. So what the one before in this
 * process had is free, and no thread gives anything back.
 */
#define _GNU_SOURCE
#include "memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/system.h"
#include "../base/valgrind.h"
#include "scratch.h"

/* Threads that may begin to record after the program has begun to filter its system calls. */
#define RESERVED 64u

size_t stream_page_size;

struct table {
	/* That of the recording before. */
	struct table *before;
	uint32_t slots;
	/* By slots, in memory that a child process finds filled with zeros: it has none of the
	 * threads. */
	struct stream *_Atomic *streams;
};

static struct table *tables[CHANNELS];
/* Those that were made ahead, and how many of them were taken. */
static char *reserved;
static atomic_uint reserved_taken;

static size_t beside_bytes(void)
{
	return (sizeof(struct beside_stream) + stream_page_size - 1) / stream_page_size *
		stream_page_size;
}

/* A stack, a page for the stream, and what is beside it. */
static size_t stream_bytes(void)
{
	return SCRATCH_SIZE + stream_page_size + beside_bytes();
}

/* Apart: a handler may have a small stack. */
static APART void register_stack(const char *stack)
{
	valgrind_register_stack(stack, stack + SCRATCH_SIZE);
}

static APART char *make(unsigned int count)
{
	const size_t size = count * stream_bytes();
	char *place = system_mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	/* A stack is none that a child process may find filled with zeros, nor is what a record
	 * is made of. */
	for (unsigned int index = 0; place && index < count; index++) {
		char *stack = place + index * stream_bytes();

		register_stack(stack);
		if (system_madvise(stack + SCRATCH_SIZE, stream_page_size, MADV_WIPEONFORK))
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

bool stream_memory_start(uint32_t channel, uint32_t slots)
{
	/* Numbers begin at 1. */
	struct table *made;
	const size_t size = (slots + 1) * sizeof(made->streams[0]);

	_Static_assert(sizeof(struct stream) <= 4096, "a stream is a page");
	_Static_assert(sizeof(struct table) <= 4096, "its head is a page");
	stream_page_size = (size_t) sysconf(_SC_PAGESIZE);
	made = system_mmap(NULL, stream_page_size + size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!made)
		return false;
	if (!system_madvise((char *) made + stream_page_size, size, MADV_WIPEONFORK)) {
		system_munmap(made, stream_page_size + size);
		return false;
	}
	made->before = tables[channel];
	made->slots = slots;
	made->streams = (void *) ((char *) made + stream_page_size);
	tables[channel] = made;
	return true;
}

void stream_memory_each_of(uint32_t channel, void (*visit)(struct stream *stream, void *data),
			   void *data)
{
	for (struct table *one = tables[channel]; one; one = one->before)
		for (uint32_t slot = 1; slot <= one->slots; slot++) {
			struct stream *stream =
				atomic_load_explicit(&one->streams[slot], memory_order_relaxed);

			if (stream)
				visit(stream, data);
		}
}

void stream_memory_each(void (*visit)(struct stream *stream, void *data), void *data)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		stream_memory_each_of(channel, visit, data);
}

/* Of ThreadSanitizer, if that watches the program. */
void *__interceptor_mmap(void *place, size_t size, int protection, int flags, int file,
			 off_t offset) __attribute__((weak));
int __interceptor_munmap(void *place, size_t size) __attribute__((weak));

/*
 * Probes are code of the program, so ThreadSanitizer sees what they write into drafts. That the
 * thread before has ended, it does not see, and would take that thread's writing and this one's for a
 * race. So the memory is given back, and taken again, before its eyes.
 */
static void renew(struct stream *stream)
{
	struct beside_stream *beside = stream_memory_beside(stream);
	const int saved = errno;

	if (!__tsan_ignore_thread_begin || !__interceptor_mmap || !__interceptor_munmap)
		return;
	for (unsigned int index = 0; index < DRAFTS; index++) {
		struct draft *draft = &beside->drafts.drafts[index];

		if (draft->size > DRAFT_BYTES)
			__interceptor_munmap(draft->memory, draft->size);
		draft->size = 0;
	}
	__interceptor_mmap(beside, beside_bytes(), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	errno = saved;
}

/* What the thread before had begun will not be appended; what it had noted was of itself. */
static void clear(struct stream *stream)
{
	struct beside_stream *beside = stream_memory_beside(stream);

	renew(stream);
	memset(stream, 0, sizeof(*stream));
	drafts_clear(&beside->drafts);
	memset(&beside->notes, 0, sizeof(beside->notes));
}

void stream_memory_note(uint32_t channel, uint32_t slot, struct stream *stream)
{
	atomic_store_explicit(&tables[channel]->streams[slot], stream, memory_order_relaxed);
}

struct stream *stream_memory_at(uint32_t channel, uint32_t slot)
{
	return atomic_load_explicit(&tables[channel]->streams[slot], memory_order_relaxed);
}

struct stream *stream_memory_take(uint32_t channel, uint32_t slot)
{
	struct stream *stream = stream_memory_at(channel, slot);

	if (stream)
		clear(stream);
	else
		stream = stream_at(make(1));
	if (!stream)
		stream = take_reserved();
	if (stream)
		stream_memory_note(channel, slot, stream);
	return stream;
}

void stream_memory_reserve(void)
{
	if (!reserved)
		reserved = make(RESERVED);
}
