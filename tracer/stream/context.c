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
#include "perf_counter.h"
#include "state.h"

#define NAMESPACES 8
#define CREDENTIALS 6

/* In the order of enum context, which is that in records. */
static const struct {
	const char *name;
	unsigned int size;
} contexts[] = {CONTEXT_TABLE};

_Static_assert(sizeof(contexts) / sizeof(contexts[0]) == CONTEXTS, "each bit has a context");
_Static_assert(CONTEXTS + MOST_COUNTERS < 31, "each counter has a bit");

/* What a thread was told, as long as the key is that of the process. */
struct known {
	uint64_t key;
	/* Which members are there, by bits of enum context. */
	uint32_t is_there;
	uint32_t vtid;
	uint32_t credentials[CREDENTIALS];
	uint64_t namespaces[NAMESPACES];
	char procname[PROCNAME_SIZE + 1];
};

static __thread struct known known __attribute__((tls_model("initial-exec")));

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
	return number < CONTEXTS ? contexts[number].size : 8;
}

bool context_is_text(unsigned int number)
{
	return 1u << number == CONTEXT_PROCNAME;
}

void context_forget(void)
{
	process_change_key();
}

/* Whether something is known still. */
static bool is_known(unsigned int bit, uint64_t key)
{
	if (known.key != key) {
		known.is_there = 0;
		known.key = key;
	}
	return known.is_there & bit;
}

/* What was just stored may be kept. A child of vfork() has our memory, and tells nothing
 * of us; a handler may have found another key meanwhile. */
static void keep(unsigned int bit, uint64_t key)
{
	if (system_getpid() == key >> 32 && known.key == key)
		known.is_there |= bit;
}

/* Real, effective or saved ID of the user, or of the group; see credentials(7). */
static uint32_t ask_credential(unsigned int place)
{
	uint32_t ids[3] = {0, 0, 0};

	system_call(place % 2 ? SYS_getresgid : SYS_getresuid, (long) &ids[0], (long) &ids[1],
		    (long) &ids[2], 0, 0, 0);
	return ids[place / 2];
}

static uint64_t find_namespace(unsigned int number, uint64_t key)
{
	uint64_t *place = &known.namespaces[number - __builtin_ctz(CONTEXT_CGROUP_NS)];

	if (!is_known(1u << number, key)) {
		*place = namespace_ask(contexts[number].name);
		keep(1u << number, key);
	}
	return *place;
}

static uint64_t find_credential(unsigned int number, uint64_t key)
{
	const unsigned int place = number - (unsigned int) __builtin_ctz(CONTEXT_VUID);

	if (!is_known(1u << number, key)) {
		known.credentials[place] = ask_credential(place);
		keep(1u << number, key);
	}
	return known.credentials[place];
}

static uint64_t find_thread(uint64_t key)
{
	if (!is_known(CONTEXT_VTID, key)) {
		known.vtid = system_gettid();
		keep(CONTEXT_VTID, key);
	}
	return known.vtid;
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
	case CONTEXT_VTID:
		return find_thread(key);
	case CONTEXT_CPU_ID:
		return cpu_read();
	case CONTEXT_PTHREAD_ID:
		return (uint64_t) (uintptr_t) pthread_self();
	default:
		return 1u << number < CONTEXT_VUID ? find_namespace(number, key)
						   : find_credential(number, key);
	}
}

const char *context_text(unsigned int number)
{
	const struct stream *stream = first_stream;
	const uint64_t key = process_key();

	(void) number;
	/* That of its records. */
	if (stream && stream->vpid)
		return stream->procname;
	if (!is_known(CONTEXT_PROCNAME, key)) {
		system_thread_name(known.procname);
		keep(CONTEXT_PROCNAME, key);
	}
	return known.procname;
}

char *contexts_write_more(char *at, uint32_t chosen)
{
	for (unsigned int number = (unsigned int) __builtin_ctz(CONTEXT_PTHREAD_ID);
	     number < CONTEXTS + MOST_COUNTERS; number++) {
		uint64_t value;
		uint32_t small;

		if (!(chosen & 1u << number))
			continue;
		value = context_number(number, NULL);
		small = (uint32_t) value;
		if (context_size(number) == sizeof(value))
			memcpy(at, &value, sizeof(value));
		else
			memcpy(at, &small, sizeof(small));
		at += context_size(number);
	}
	/* They are there: how long they are was to be known first. */
	return chosen & CONTEXT_APPLICATION ? application_skip(at) : at;
}
