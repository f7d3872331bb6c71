/*
 * ablation ROUNDS: what a call and a tracepoint cost, in a chunk that nobody reads, printed as
 * NAME=NANOSECONDS. bench/ablation.py compiles it with the tracer's own fast path, and with that
 * without one part or the other.
 *
 *   call, point               through the memory of a thread's chunks
 *   call_here, point_here     in one place of it again and again
 *   call_stores, point_stores only the bytes, through that memory
 *   counter                   only the time-stamp counter, once
 *   loop                      nothing
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "record.h"
#include "section.h"

#define CHUNK (64u << 10)
#define CHUNKS 64u
#define EVENTS 200u
#define TEXT "a short text"
#define POINT_FIELDS (sizeof(int) + sizeof(TEXT))
/* Of an entry and an exit, and of a tracepoint. */
#define CALL_BYTES 34u
#define POINT_BYTES (COMPACT_HEADER_SIZE + USUAL_CONTEXTS_SIZE + POINT_FIELDS)

static struct stream stream;
static _Alignas(4096) char memory[CHUNKS][CHUNK];

static struct arena_chunk *chunk_of(unsigned int number)
{
	return (struct arena_chunk *) (void *) memory[number % CHUNKS];
}

static void go_to(unsigned int number)
{
	struct arena_chunk *chunk = chunk_of(number);

	chunk->committed = sizeof(*chunk);
	stream.chunk = chunk;
	stream.open = chunk;
	stream.limit = CHUNK;
	stream.last_time = clock_counter();
}

/* We were away so long that the header must be another one: this round does not count. */
static __attribute__((noinline, cold)) void resume(void)
{
	stream.last_time = clock_counter();
}

static APART void call(unsigned int number)
{
	(void) number;
	if (!section_append_usual(EVENT_FAST_ENTRY, (void *) call, true) ||
	    !section_append_usual(EVENT_FAST_EXIT, (void *) call, false))
		resume();
}

static APART void point(unsigned int number)
{
	struct record record;

	if (!record_begin_usual(&record, false, EVENT_CLASSES, (void *) point, POINT_FIELDS))
		return;
	memcpy(record.at, &number, sizeof(number));
	memcpy(record.at + sizeof(number), TEXT, sizeof(TEXT));
	record_commit(&record);
}

static APART void call_here(unsigned int number)
{
	call(number);
	stream.chunk->committed = sizeof(struct arena_chunk);
}

static APART void point_here(unsigned int number)
{
	point(number);
	stream.chunk->committed = sizeof(struct arena_chunk);
}

static INLINED void store(uint32_t size)
{
	static const char bytes[CALL_BYTES + POINT_BYTES];
	struct arena_chunk *chunk = stream.chunk;

	memcpy((char *) chunk + chunk->committed, bytes, size);
	chunk->committed += size;
}

static APART void call_stores(unsigned int number)
{
	(void) number;
	store(CALL_BYTES);
}

static APART void point_stores(unsigned int number)
{
	(void) number;
	store(POINT_BYTES);
}

static APART void counter(unsigned int number)
{
	(void) number;
	*(volatile uint64_t *) &stream.last_time = clock_counter();
}

static APART void loop(unsigned int number)
{
	(void) number;
	__asm__ volatile("" ::: "memory");
}

/* The least of all rounds, in ticks an event. */
static double least(void (*event)(unsigned int), long rounds)
{
	uint64_t best = UINT64_MAX;

	for (long round = 0; round < rounds; round++) {
		uint64_t begin;
		uint64_t taken;

		/* Four rounds fill a half of a chunk. */
		if (round % 4 == 0)
			go_to((unsigned int) (round / 4));
		begin = clock_counter();
		for (unsigned int index = 0; index < EVENTS; index++)
			event(index);
		taken = clock_counter() - begin;
		if (taken < best)
			best = taken;
	}
	return (double) best / EVENTS;
}

static double nanoseconds_of_tick(void)
{
	const uint64_t time = clock_monotonic();
	const uint64_t ticks = clock_counter();

	while (clock_monotonic() - time < 100000000)
		;
	return (double) (clock_monotonic() - time) / (double) (clock_counter() - ticks);
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		void (*event)(unsigned int);
	} all[] = {
		{"call", call},
		{"point", point},
		{"call_here", call_here},
		{"point_here", point_here},
		{"call_stores", call_stores},
		{"point_stores", point_stores},
		{"counter", counter},
		{"loop", loop},
	};
	const long rounds = count > 1 ? atol(words[1]) : 20000;
	const double tick = nanoseconds_of_tick();

	settings.counter_is_clock = true;
	settings_choose_contexts(&settings.channels[0],
				 (struct context_choice) {USUAL_CONTEXTS, USUAL_CONTEXTS_SIZE});
	streams_of_thread[0] = &stream;
	section_start();
	if (!section_is_possible()) {
		fputs("no restartable sequences\n", stderr);
		return 1;
	}
	for (size_t index = 0; index < sizeof(all) / sizeof(all[0]); index++)
		printf("%s=%.3f\n", all[index].name, least(all[index].event, rounds) * tick);
	return 0;
}
