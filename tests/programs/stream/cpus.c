/*
 * The rings of CPUs, which threads fill together, interrupted and moved.
 *
 *   cpus MODE
 *
 * Each mode ends with status 0, or says what is wrong. The body of a record has the number of its
 * thread and its own, some bytes that follow from those, and a length that does, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../expect.h"
#include "cpu_short_section.h"
#include "settings.h"

#define CHUNK 4096u
#define CHUNKS 4096u
#define CPUS 64u
#define THREADS 4u
#define RECORDS 30000u
#define EXTENDED_CLASS 300u

static _Alignas(4096) char chunks[CHUNKS][CHUNK];
static _Alignas(64) struct arena_slot slots[CPUS];
/* As the tracer's, they are there for longer than their threads: a signal may come to a thread whose
 * function has returned. */
static struct stream streams[THREADS];
static atomic_uint chunks_taken;
static atomic_uint recorded[THREADS + 1];

struct body {
	uint32_t thread;
	uint32_t number;
	unsigned char bytes[120];
};

static struct arena_chunk *chunk_at(uint32_t number)
{
	return (struct arena_chunk *) (void *) chunks[number - 1];
}

static void begin(struct stream *stream)
{
	memset(stream, 0, sizeof(*stream));
	stream->owner = 5;
	stream->cpus = (struct cpu_rings) {
		.first = (char *) &slots[0].cur,
		.chunks = (char *) chunks - CHUNK,
		.chunk_bytes = CHUNK,
		.chunk_count = CHUNKS,
		.limit = CHUNK,
		.count = CPUS,
	};
	streams_of_thread[0] = stream;
}

static uint32_t present_cpu(void)
{
	return (uint32_t) sched_getcpu();
}

/* Let the ring of the CPU have another chunk; the sequence says whether it was one too late. */
static bool go_on(struct stream *stream)
{
	static __thread volatile uint32_t kept;
	const uint32_t cpu = present_cpu();
	const uint64_t seen = atomic_load(&slots[cpu].cur);
	uint32_t number = kept;
	struct arena_chunk *chunk;

	/* A handler may come by here. */
	kept = 0;
	if (!number)
		number = atomic_fetch_add(&chunks_taken, 1) + 1;
	EXPECT(number <= CHUNKS);
	chunk = chunk_at(number);
	chunk->prev = (uint32_t) seen;
	chunk->committed = sizeof(*chunk);
	if (!cpu_section_go_on(stream, cpu, number, seen)) {
		kept = number;
		return false;
	}
	EXPECT(atomic_load(&chunk->owner) == cpu + 1);
	return true;
}

static void fill(struct body *body, uint32_t thread, uint32_t number)
{
	body->thread = thread;
	body->number = number;
	memset(body->bytes, (int) (thread * 31 + number), sizeof(body->bytes));
}

static uint32_t size_of(uint32_t number)
{
	return 8 + number % 100;
}

static enum appended append_in_any_way(struct stream *stream, const struct body *body)
{
	const uint32_t size = size_of(body->number);
	struct appending record;

	if (size <= 48 && body->number % 3 &&
	    append_to_cpu_in_section((const char *) body, size, stream->owner, 0, 1))
		return APPENDED;
	if (size <= 100 && body->number % 3 == 2 &&
	    cpu_section_append_wide((const char *) body, size, stream->owner, 0, 1, 0))
		return APPENDED;
	appending_begin(&record, (struct destination) {0, body->number % 7 ? 1 : EXTENDED_CLASS},
			(const char *) body, size);
	for (;;) {
		const enum appended result = cpu_section_append(&record, stream->owner);

		if (result != APPEND_EXTENDED)
			return result;
		record.header_size = EXTENDED_HEADER_SIZE;
	}
}

static void append(struct stream *stream, uint32_t thread)
{
	struct body body;

	fill(&body, thread, atomic_fetch_add(&recorded[thread], 1));
	while (append_in_any_way(stream, &body) != APPENDED)
		go_on(stream);
}

/* What has been read of each thread. */
static bool is_read[THREADS + 1][10 * RECORDS];

/* Read a record; the next one. */
static const char *read_record(const char *at, uint64_t *time)
{
	struct body expected;
	struct body found;
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	if ((word & 0xff) == HEADER_EXTENDED) {
		const uint64_t before = *time;

		memcpy(time, at + 5, sizeof(*time));
		EXPECT(*time >= before);
		at += EXTENDED_HEADER_SIZE;
	} else {
		/* No more than the bits of the header have passed. */
		*time += ((word >> HEADER_CLASS_BITS) - *time) & 0xffffff;
		at += COMPACT_HEADER_SIZE;
	}
	memcpy(&found, at, 8);
	EXPECT(found.thread <= THREADS && found.number < 10 * RECORDS);
	EXPECT(!is_read[found.thread][found.number]);
	is_read[found.thread][found.number] = true;
	fill(&expected, found.thread, found.number);
	EXPECT(memcmp(&expected, at, size_of(found.number)) == 0);
	return at + size_of(found.number);
}

static void read_chunk(const struct arena_chunk *chunk, uint64_t *next_begin)
{
	const char *end = (const char *) chunk + chunk->committed;
	const char *at = (const char *) (chunk + 1);
	uint64_t time = chunk->packet.timestamp_begin;

	while (at < end)
		at = read_record(at, &time);
	EXPECT(at == end && time <= chunk->packet.timestamp_end);
	EXPECT(chunk->epoch == (uint32_t) (time >> HEADER_TIME_BITS));
	EXPECT(chunk->packet.timestamp_end <= *next_begin);
	*next_begin = chunk->packet.timestamp_begin;
}

static void read_all(void)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		const uint64_t cur = atomic_load(&slots[cpu].cur);
		uint32_t number = (uint32_t) cur;
		uint64_t next_begin = UINT64_MAX;

		for (uint64_t seq = cur >> 32; seq; seq--) {
			read_chunk(chunk_at(number), &next_begin);
			number = chunk_at(number)->prev;
		}
		EXPECT(!number);
	}
	for (uint32_t thread = 0; thread <= THREADS; thread++)
		for (uint32_t number = 0; number < recorded[thread]; number++)
			EXPECT(is_read[thread][number]);
}

/* A thread has signals all the time, and records in them. */
static void handle(int number)
{
	(void) number;
	if (recorded[THREADS] < 5 * RECORDS)
		append(streams_of_thread[0], THREADS);
}

static void *fill_rings(void *argument)
{
	const uint32_t thread = (uint32_t) (uintptr_t) argument;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct stream *stream = &streams[thread];

	begin(stream);
	for (uint32_t index = 0; index < RECORDS; index++) {
		cpu_set_t set;

		append(stream, thread);
		if (index % 100)
			continue;
		CPU_ZERO(&set);
		CPU_SET((thread + index / 100) % cpus, &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	return NULL;
}

/* Each record is there once and whole, in the order of time. */
static void mode_shared(void)
{
	struct sigaction action = {.sa_handler = handle};
	pthread_t threads[THREADS];

	sigaction(SIGUSR1, &action, NULL);
	for (uintptr_t one = 0; one < THREADS; one++)
		pthread_create(&threads[one], NULL, fill_rings, (void *) one);
	/* Also while it ends. */
	while (pthread_tryjoin_np(threads[0], NULL) == EBUSY)
		if (recorded[0])
			pthread_kill(threads[0], SIGUSR1);
	for (uint32_t one = 1; one < THREADS; one++)
		pthread_join(threads[one], NULL);
	read_all();
}

/* What cannot go to the ring of a CPU says so, and changes nothing. */
static void mode_conditions(void)
{
	static struct body body;
	struct stream stream;
	struct appending record;
	cpu_set_t set;
	uint32_t cpu;
	struct arena_chunk *chunk;

	CPU_ZERO(&set);
	CPU_SET(present_cpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
	cpu = present_cpu();
	begin(&stream);
	appending_begin(&record, (struct destination) {0, 1}, (const char *) &body, 50);
	/* There is no chunk. */
	EXPECT(cpu_section_append(&record, stream.owner) == APPEND_ELSEWHERE);
	EXPECT(!append_to_cpu_in_section((const char *) &body, 40, stream.owner, 0, 1));
	EXPECT(!cpu_section_append_usual(1, &body, true));
	/* It is that of another CPU, or the ring has gone on. */
	EXPECT(!cpu_section_go_on(&stream, cpu + 1, 1, 0));
	EXPECT(!cpu_section_go_on(&stream, cpu, 1, 1));
	EXPECT(go_on(&stream));
	chunk = chunk_at((uint32_t) atomic_load(&slots[cpu].cur));
	/* The record is another process's, or the thread may not. */
	EXPECT(cpu_section_append(&record, stream.owner + 1) == APPEND_ELSEWHERE);
	stream.cpus.count = cpu;
	EXPECT(cpu_section_append(&record, stream.owner) == APPEND_ELSEWHERE);
	stream.cpus.count = CPUS;
	streams_of_thread[0] = NULL;
	EXPECT(cpu_section_append(&record, stream.owner) == APPEND_ELSEWHERE);
	streams_of_thread[0] = &stream;
	/* Somebody has written over the number of the chunk. */
	atomic_fetch_add(&slots[cpu].cur, CHUNKS);
	EXPECT(cpu_section_append(&record, stream.owner) == APPEND_ELSEWHERE);
	atomic_fetch_sub(&slots[cpu].cur, CHUNKS);
	/* The time does not fit into the compact header. */
	chunk->epoch--;
	EXPECT(cpu_section_append(&record, stream.owner) == APPEND_EXTENDED);
	EXPECT(!cpu_section_append_wide((const char *) &body, 60, stream.owner, 0, 1, 0));
	EXPECT(chunk->committed == sizeof(*chunk));
	record.header_size = EXTENDED_HEADER_SIZE;
	EXPECT(cpu_section_append(&record, stream.owner) == APPENDED);
	EXPECT(chunk->committed == sizeof(*chunk) + EXTENDED_HEADER_SIZE + 50);
	/* It is full. */
	chunk->committed = CHUNK - 30;
	EXPECT(cpu_section_append(&record, stream.owner) == APPEND_ELSEWHERE);
	EXPECT(chunk->committed == CHUNK - 30);
}

int main(int count, char **words)
{
	settings.counter_is_clock = true;
	section_start();
	if (!section_is_possible())
		return 97;
	if (count > 1 && !strcmp(words[1], "shared"))
		mode_shared();
	else if (count > 1 && !strcmp(words[1], "conditions"))
		mode_conditions();
	else
		return 98;
	return 0;
}
