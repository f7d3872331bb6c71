/* Finds out contexts, and keeps what costs a system call. */
#define _GNU_SOURCE
#include "context.h"

#include <pthread.h>
#include <string.h>

#include "../agreement/agreement.h"
#include "../base/cpu.h"
#include "../base/namespace.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "application.h"
#include "context_list.h"
#include "lone.h"
#include "memory.h"
#include "perf_counter.h"

/* In the order of enum context, which is that in records. */
static const struct {
	const char *name;
	unsigned int size;
} contexts[] = {CONTEXT_TABLE};

_Static_assert(sizeof(contexts) / sizeof(contexts[0]) == CONTEXTS, "each bit has a context");

int context_find(const char *name, size_t length)
{
	int number;

	for (unsigned int one = 0; one < CONTEXTS; one++)
		if (strlen(contexts[one].name) == length &&
		    !memcmp(contexts[one].name, name, length))
			return (int) one;
	number = perf_counter_find(name, length);
	return number < 0 ? -1 : (int) CONTEXTS + number;
}

unsigned int context_size(unsigned int number)
{
	return number < CONTEXTS ? contexts[number].size : sizeof(uint64_t);
}

bool context_is_text(unsigned int number)
{
	return number == (unsigned int) __builtin_ctz(CONTEXT_PROCNAME);
}

void context_forget(void)
{
	process_change_key();
}

/* Whether the thread was told something, and that holds still. It can note nothing where it has no
 * notes. */
static INLINED bool is_known(const struct known_contexts *known, unsigned int bit, uint64_t key)
{
	return LIKELY(known && known->key == key && known->is_there & bit);
}

/* A thread that records nothing, and is asked for triggers alone, has them elsewhere. */
static INLINED struct known_contexts *known_of_thread(void)
{
	struct notes *notes = stream_memory_notes();

	return LIKELY(notes != NULL) ? &notes->known : lone_known();
}

/* What it is told has another key from now on. */
static void begin_again(struct known_contexts *known, uint64_t key)
{
	if (known->key == key)
		return;
	known->is_there = 0;
	known->key = key;
}

/* What was just stored may be kept. A child of vfork() has our memory, and tells nothing
 * of us; a handler may have found another key meanwhile. */
static void keep(struct known_contexts *known, unsigned int bit, uint64_t key)
{
	if (system_getpid() == key >> 32 && known->key == key)
		known->is_there |= bit;
}

/* Real, effective or saved ID of the user, or of the group; see credentials(7). */
static uint32_t ask_credential(unsigned int place)
{
	uint32_t ids[3] = {0, 0, 0};

	system_call(place % 2 ? SYS_getresgid : SYS_getresuid, (long) &ids[0], (long) &ids[1],
		    (long) &ids[2], 0, 0, 0);
	return ids[place / 2];
}

/* Where namespaces and credentials are among those of their kind. */
static unsigned int namespace_place(unsigned int number)
{
	return number - (unsigned int) __builtin_ctz(CONTEXT_CGROUP_NS);
}

static unsigned int credential_place(unsigned int number)
{
	return number - (unsigned int) __builtin_ctz(CONTEXT_VUID);
}

/* Ask for a namespace, a credential or the ID of the thread, and note the answer. */
static APART uint64_t ask_system(struct known_contexts *noted, unsigned int number, uint64_t key)
{
	struct known_contexts unnoted = {.key = 0};
	struct known_contexts *known = noted ? noted : &unnoted;
	const unsigned int bit = 1u << number;
	uint64_t value;

	begin_again(known, key);
	if (bit == CONTEXT_VTID) {
		value = system_gettid();
		known->vtid = (uint32_t) value;
	} else if (bit < CONTEXT_VUID) {
		value = namespace_ask(contexts[number].name);
		known->namespaces[namespace_place(number)] = value;
	} else {
		value = ask_credential(credential_place(number));
		known->credentials[credential_place(number)] = (uint32_t) value;
	}
	keep(known, bit, key);
	return value;
}

static INLINED uint64_t find_of_system(unsigned int number, uint64_t key)
{
	struct known_contexts *known = known_of_thread();
	const unsigned int bit = 1u << number;

	if (!is_known(known, bit, key))
		return ask_system(known, number, key);
	if (bit == CONTEXT_VTID)
		return known->vtid;
	return bit < CONTEXT_VUID ? known->namespaces[namespace_place(number)]
				  : known->credentials[credential_place(number)];
}

uint64_t context_number(unsigned int number, const void *ip)
{
	const uint64_t key = process_key();

	if (number >= CONTEXTS)
		return perf_counter_read(number - (unsigned int) CONTEXTS, key >> 32);
	switch (1u << number) {
	case CONTEXT_IP:
		return (uintptr_t) ip;
	case CONTEXT_VPID:
		return key >> 32;
	case CONTEXT_CPU_ID:
		return cpu_read();
	case CONTEXT_PTHREAD_ID:
		return (uint64_t) (uintptr_t) pthread_self();
	default:
		return find_of_system(number, key);
	}
}

const char *context_text(unsigned int number)
{
	const struct stream *stream = first_stream;
	struct known_contexts *known = known_of_thread();
	const uint64_t key = process_key();

	(void) number;
	/* That of its records. */
	if (stream && stream->vpid)
		return stream->procname;
	/* Nor will there be a record, or a notification. */
	if (!known)
		return "";
	if (!is_known(known, CONTEXT_PROCNAME, key)) {
		begin_again(known, key);
		system_thread_name(known->procname);
		keep(known, CONTEXT_PROCNAME, key);
	}
	return known->procname;
}

static char *write_counters(char *at, const struct context_list *list)
{
	const uint64_t process = process_key() >> 32;

	for (unsigned int index = 0; index < list->counter_count; index++) {
		const unsigned int number = list->counters[index];
		const uint64_t value =
			number == NO_NUMBER ? 0 : perf_counter_read(number, process);

		memcpy(at, &value, sizeof(value));
		at += sizeof(value);
	}
	return at;
}

char *contexts_write_more(char *at, struct context_choice choice)
{
	const struct context_list *list = context_list_get(choice.list);

	for (unsigned int number = (unsigned int) __builtin_ctz(CONTEXT_PTHREAD_ID);
	     number < CONTEXTS; number++) {
		uint64_t value;
		uint32_t small;

		if (!(choice.chosen & 1u << number))
			continue;
		value = context_number(number, NULL);
		small = (uint32_t) value;
		if (context_size(number) == sizeof(value))
			memcpy(at, &value, sizeof(value));
		else
			memcpy(at, &small, sizeof(small));
		at += context_size(number);
	}
	at = write_counters(at, list);
	/* They are there: how long they are was to be known first. */
	return application_skip(list, at);
}
