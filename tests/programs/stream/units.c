/*
 * The ways to append records, interrupted after each instruction; and drafts.
 *
 *   units MODE
 *
 * Each mode ends with status 0, or says what is wrong. In the chunk, each record is a compact
 * header and a body of the same byte all over, whose value is its size.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "../expect.h"
#include "clock.h"
#include "settings.h"
#include "announce.h"
#include "draft.h"
#include "section.h"

#define CHUNK 65536u
#define LIMIT 60000u
/* Sizes of records, by the way that they are announced. */
#define FIRST (sizes[way][0])
#define SECOND (sizes[way][1])
#define THIRD (sizes[way][2])

enum way {
	ANY,
	/* In few steps, from memory, and from words. */
	SHORT,
	SHORTER,
	ENTRY,
	EXIT,
	LONG_DRAFT,
	DRAFT,
	WAYS,
};

static enum way way;
static const unsigned int sizes[WAYS][3] = {
	{37, 200, 5}, {37, 12, 5},  {12, 37, 5},  {16, 28, 10},
	{10, 28, 5},  {200, 37, 5}, {70, 200, 5},
};

static struct stream stream;
static uint64_t begun;
static _Alignas(4096) char memory[CHUNK];
static struct arena_chunk *const chunk = (struct arena_chunk *) (void *) memory;

static void begin(bool has_sections)
{
	memset(memory, 0, sizeof(memory));
	memset(&stream, 0, sizeof(stream));
	chunk->committed = sizeof(*chunk);
	stream.chunk = chunk;
	stream.open = has_sections ? chunk : NULL;
	stream.limit = LIMIT;
	if (!has_sections && way != ANY) {
		stream.announced = chunk;
		/* Else the first header is not compact. */
		stream.last_time = clock_read();
	}
	begun = stream.last_time;
	/* All bytes of these records are the same. */
	stream.vpid = 0x01010101u * FIRST;
	announce_start(&stream, 1000);
	streams_of_thread[0] = &stream;
}

static bool append_place(unsigned int size)
{
	const void *place = (const void *) (0x010101010101u * (uintptr_t) size);

	return way == ENTRY   ? announce_append_entry(1, place)
		: way == EXIT ? announce_append_exit(1, place)
			      : false;
}

static bool append_draft(char *body, unsigned int size)
{
	const struct draft draft = {
		.memory = body,
		.class = 1,
		.body_size = size,
		.stream_owner = stream.owner,
	};

	return (way == LONG_DRAFT || way == DRAFT) && announce_append_draft(&draft);
}

static enum appended append(unsigned int size)
{
	static char bodies[256][256 + DRAFT_SLACK];
	struct appending record;
	enum appended result;

	memset(bodies[size], (int) size, size);
	if (size == FIRST && stream.announced &&
	    (append_place(size) || append_draft(bodies[size], size)))
		return APPENDED;
	if (way != ANY && size <= RECORD_BYTES && stream.announced &&
	    announce_append_short(stream.owner, 1, bodies[size], size))
		return APPENDED;
	appending_begin(&record, (struct destination) {0, 1}, bodies[size], size);
	result = stream.open ? section_append(&record) : announce_append(&stream, &record);
	if (result == APPEND_EXTENDED) {
		record.header_size = EXTENDED_HEADER_SIZE;
		result = section_append(&record);
	}
	return result;
}

/* The time of a record, after another one. */
static uint64_t read_time(const uint8_t *at, uint64_t last)
{
	const uint64_t mask = (1u << HEADER_TIME_BITS) - 1;
	uint64_t time = 0;
	uint32_t header;

	if (*at == HEADER_EXTENDED) {
		memcpy(&time, at + 5, sizeof(time));
		return time;
	}
	memcpy(&header, at, sizeof(header));
	return last + (((header >> HEADER_CLASS_BITS) - last) & mask);
}

/* How many records of each size there are; whether all are whole, in the order of time: one that
 * is not would seem to come from the future. */
static void read_records(unsigned int *counts)
{
	const uint8_t *at = (const uint8_t *) memory + sizeof(*chunk);
	const uint8_t *end = (const uint8_t *) memory + chunk->committed;
	uint64_t last = begun;

	memset(counts, 0, 256 * sizeof(*counts));
	while (at < end) {
		const unsigned int header =
			*at == HEADER_EXTENDED ? EXTENDED_HEADER_SIZE : COMPACT_HEADER_SIZE;
		const unsigned int size = at[header];
		const uint64_t time = read_time(at, last);

		EXPECT(header == EXTENDED_HEADER_SIZE || *at == 1);
		EXPECT(time >= last && time <= clock_read());
		last = time;
		EXPECT(size == FIRST || size == SECOND || size == THIRD);
		for (unsigned int index = 0; index < size; index++)
			EXPECT(at[header + index] == size);
		counts[size]++;
		at += header + size;
	}
	EXPECT(at == end);
}

/* --- after each instruction --- */

static volatile long instruction;
static volatile long wanted;
static void (*volatile interruption)(void);

static void trap(int number)
{
	(void) number;
	if (++instruction == wanted)
		interruption();
}

#if defined(__x86_64__)
#define STEP() __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc")
#define RUN() __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc")
#else
#define STEP()
#define RUN()
#endif

/* Call a function for each instruction of another one; it returns whether that was reached. */
static void at_each_instruction(void (*interrupt)(void), bool (*once)(void))
{
	struct sigaction action = {.sa_handler = trap, .sa_flags = SA_NODEFER};

	sigaction(SIGTRAP, &action, NULL);
	interruption = interrupt;
	/* Fewer of them, where a sanitizer adds thousands. */
	for (wanted = 1;; wanted += 1 + wanted / 12) {
		instruction = 0;
		if (!once())
			break;
	}
	EXPECT(wanted > 50);
}

/* The same for each way to announce the other one. */
static void in_each_way(void (*interrupt)(void), bool (*once)(void))
{
	for (way = ANY; way < WAYS; way++)
		at_each_instruction(interrupt, once);
	way = ANY;
}

static void append_second(void)
{
	RUN();
	EXPECT(append(SECOND) == APPENDED);
}

static bool append_first_stepped(void)
{
	unsigned int counts[256];
	enum appended result;
	bool is_reached;

	begin(false);
	STEP();
	result = append(FIRST);
	RUN();
	is_reached = instruction >= wanted;
	EXPECT(result == APPENDED);
	EXPECT(append(THIRD) == APPENDED);
	read_records(counts);
	EXPECT(counts[FIRST] == 1 && counts[SECOND] == is_reached && counts[THIRD] == 1);
	return is_reached;
}

/* A handler records, and the interrupted record goes on. */
static void mode_nested(void)
{
	in_each_way(append_second, append_first_stepped);
}

static sigjmp_buf place;

static void append_second_and_jump(void)
{
	append_second();
	siglongjmp(place, 1);
}

static void jump(void)
{
	siglongjmp(place, 1);
}

static bool jump_once(void)
{
	unsigned int counts[256];
	volatile bool is_reached = true;
	const bool is_second = interruption == append_second_and_jump;

	begin(false);
	if (!sigsetjmp(place, 1)) {
		STEP();
		append(FIRST);
		RUN();
		is_reached = instruction >= wanted;
	}
	RUN();
	EXPECT(append(THIRD) == APPENDED);
	read_records(counts);
	EXPECT(counts[FIRST] <= 1 && counts[THIRD] == 1);
	EXPECT(counts[SECOND] == (is_second && is_reached));
	return is_reached;
}

/* A handler jumps away, with a record before that or without: the interrupted one alone is
 * missing, or is there. */
static void mode_jumping(void)
{
	in_each_way(append_second_and_jump, jump_once);
	in_each_way(jump, jump_once);
}

static ucontext_t interrupted;
static ucontext_t other;
static char other_stack[256 << 10];

static void switch_away(void)
{
	swapcontext(&interrupted, &other);
}

static void record_elsewhere(void)
{
	EXPECT(append(SECOND) == APPENDED);
	EXPECT(append(THIRD) == APPENDED);
	setcontext(&interrupted);
}

static bool switch_once(void)
{
	unsigned int counts[256];
	bool is_reached;

	begin(false);
	getcontext(&other);
	other.uc_stack.ss_sp = other_stack;
	other.uc_stack.ss_size = sizeof(other_stack);
	makecontext(&other, record_elsewhere, 0);
	STEP();
	EXPECT(append(FIRST) == APPENDED);
	RUN();
	is_reached = instruction >= wanted;
	read_records(counts);
	EXPECT(counts[FIRST] == 1 && counts[SECOND] == is_reached && counts[THIRD] == is_reached);
	return is_reached;
}

/* A handler switches to a coroutine, which records and switches back. */
static void mode_switching(void)
{
	in_each_way(switch_away, switch_once);
}

static void close_chunk(void)
{
	RUN();
	announce_close(&stream);
	stream.limit = 0;
}

static bool close_once(void)
{
	unsigned int counts[256];
	enum appended result;
	bool is_reached;

	begin(false);
	STEP();
	result = append(FIRST);
	RUN();
	is_reached = instruction >= wanted;
	read_records(counts);
	/* It is in the chunk that was closed, or was told to go elsewhere. */
	EXPECT(counts[FIRST] == (result == APPENDED));
	EXPECT(result == APPENDED || result == APPEND_ELSEWHERE);
	return is_reached;
}

/* A handler goes on to another chunk. */
static void mode_closing(void)
{
	in_each_way(close_chunk, close_once);
}

/* --- sections --- */

static void find_sections(void)
{
	settings.counter_is_clock = true;
	section_start();
	if (section_is_possible())
		return;
	puts("no restartable sequences");
	exit(0);
}

static bool append_section_stepped(void)
{
	unsigned int counts[256];
	enum appended result;

	begin(true);
	STEP();
	result = append(FIRST);
	RUN();
	/* It begins again with each instruction, and gives up. */
	EXPECT(result == APPEND_OTHERWISE);
	read_records(counts);
	EXPECT(counts[FIRST] == 0 && counts[SECOND] == (instruction >= wanted));
	return instruction >= wanted;
}

/* A section that is interrupted each time has not happened. */
static void mode_stepped_sections(void)
{
	find_sections();
	at_each_instruction(append_second, append_section_stepped);
}

static volatile long handled;
static atomic_bool is_over;

static void record_in_handler(int number)
{
	(void) number;
	if (chunk->committed < LIMIT / 2)
		handled += append(THIRD) == APPENDED;
}

static void *send_signals(void *argument)
{
	const pthread_t *thread = argument;

	while (!is_over) {
		pthread_kill(*thread, SIGUSR1);
		for (volatile int pause = 0; pause < 3000; pause++)
			;
	}
	return NULL;
}

/* Signals at any time: each record is there once. */
static void mode_signalled_sections(void)
{
	struct sigaction action = {.sa_handler = record_in_handler};
	pthread_t self = pthread_self();
	pthread_t sender;
	unsigned int counts[256];

	find_sections();
	begin(true);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&sender, NULL, send_signals, &self);
	for (int round = 0; round < 200; round++) {
		unsigned int firsts = 0;
		sigset_t signals;
		sigset_t before;

		sigfillset(&signals);
		pthread_sigmask(SIG_BLOCK, &signals, &before);
		begin(true);
		handled = 0;
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		/* One that is interrupted again and again has not happened. */
		for (int tries = 0; tries < 500; tries++)
			firsts += append(FIRST) == APPENDED;
		pthread_sigmask(SIG_BLOCK, &signals, &before);
		read_records(counts);
		EXPECT(counts[FIRST] == firsts && counts[THIRD] == (unsigned long) handled);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	is_over = true;
	pthread_join(sender, NULL);
}

/* A given time holds if nothing came since; the room ends where it should. */
static void mode_conditions(void)
{
	char body[256];
	struct appending record;

	memset(body, (int) FIRST, sizeof(body));
	for (int has_sections = 0; has_sections < 2; has_sections++) {
		if (has_sections)
			find_sections();
		begin(has_sections);
		EXPECT(append(FIRST) == APPENDED);
		appending_begin(&record, (struct destination) {0, 1}, body, FIRST);
		record.time = stream.last_time + 1;
		record.chunk = chunk;
		record.committed = chunk->committed - 1;
		EXPECT((has_sections ? section_append(&record)
				     : announce_append(&stream, &record)) == APPEND_ELSEWHERE);
		record.committed = chunk->committed;
		EXPECT((has_sections ? section_append(&record)
				     : announce_append(&stream, &record)) == APPENDED);
		EXPECT(chunk->packet.timestamp_end == record.time);
		while (append(SECOND) == APPENDED)
			EXPECT(chunk->committed <= LIMIT);
		EXPECT(append(SECOND) == APPEND_ELSEWHERE);
		for (uint32_t at = LIMIT; at < CHUNK; at++)
			EXPECT(!memory[at]);
	}
}

/* --- drafts --- */

static struct drafts drafts;

/* Each record has one of its own; those that were abandoned are found when there are no more. */
static void mode_drafts(void)
{
	struct draft *taken[DRAFTS];
	char frames[DRAFTS + 1];
	struct draft *large;

	for (unsigned int index = 0; index < DRAFTS; index++) {
		/* Deeper and deeper, as handlers are. */
		const char *owner = &frames[DRAFTS - 1 - index];

		taken[index] = draft_take(&drafts, owner, 100);
		EXPECT(taken[index] && taken[index]->size >= 100);
		memset(taken[index]->memory, (int) index, 100);
	}
	for (unsigned int index = 0; index < DRAFTS; index++)
		EXPECT((unsigned char) taken[index]->memory[99] == index);
	/* Deeper than all: none of them can be gone. */
	EXPECT(!draft_take(&drafts, &frames[0] - 1, 100));
	EXPECT(draft_give(taken[3], &frames[DRAFTS - 4]));
	EXPECT(!draft_give(taken[3], &frames[DRAFTS - 4]));
	EXPECT(draft_take(&drafts, &frames[0] - 1, 100) == taken[3]);
	/* Above all: all are gone. */
	EXPECT(draft_take(&drafts, &frames[DRAFTS], 100));
	EXPECT(!draft_give(taken[5], &frames[DRAFTS - 6]));
	large = draft_take(&drafts, &frames[DRAFTS], 1 << 20);
	EXPECT(large && large->size >= 1 << 20);
	memset(large->memory, 1, 1 << 20);
	EXPECT(!draft_take(&drafts, &frames[DRAFTS], (size_t) DRAFT_LONGEST + 1));
	drafts_clear(&drafts);
	EXPECT(draft_take(&drafts, &frames[0], 100) == &drafts.drafts[0]);
}

static const struct {
	const char *name;
	void (*function)(void);
} modes[] = {
	{"nested", mode_nested},
	{"jumping", mode_jumping},
	{"switching", mode_switching},
	{"closing", mode_closing},
	{"stepped-sections", mode_stepped_sections},
	{"signalled-sections", mode_signalled_sections},
	{"conditions", mode_conditions},
	{"drafts", mode_drafts},
};

int main(int count, char **words)
{
	settings.counter_is_clock = true;
	for (size_t index = 0; count > 1 && index < sizeof(modes) / sizeof(modes[0]); index++) {
		if (strcmp(words[1], modes[index].name) == 0) {
			modes[index].function();
			return 0;
		}
	}
	return 98;
}
