/* What the recorder asks of the tracer. */
#ifndef VESTIGE_BASE_SETTINGS_H
#define VESTIGE_BASE_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "../agreement/registration.h"
#include "compiler.h"

/* Those that few recordings have. */
#define MORE_CONTEXTS (~(unsigned int) (CONTEXT_PTHREAD_ID - 1))

/* Counters, and contexts of the program, however many. */
#define CONTEXT_COUNTERS (1u << CONTEXTS)
#define CONTEXT_APPLICATION (1u << (CONTEXTS + 1))

/* Those that readers need for source lines, and that records have unless others are chosen. */
#define USUAL_CONTEXTS (CONTEXT_IP | CONTEXT_VPID)
#define USUAL_CONTEXTS_SIZE (PLACE_SIZE + ID_SIZE)
/* The same in the ring of a CPU. */
#define USUAL_CONTEXTS_OF_CPU (USUAL_CONTEXTS | CONTEXT_VTID)

/* Those that a channel of a session has unless others are chosen: its packets do not tell whose its records
 * are. */
#define WHOSE_CONTEXTS (CONTEXT_VPID | CONTEXT_VTID)
#define WHOSE_CONTEXTS_SIZE (2 * ID_SIZE)

/* What the hook at the entry, or at the exit, of a function does. */
enum function_tracing {
	/* Before the settings are read. */
	FUNCTIONS_UNKNOWN,
	FUNCTIONS_OFF = 1 + (int) FUNCTION_TRACING_OFF,
	FUNCTIONS_FAST = 1 + (int) FUNCTION_TRACING_FAST,
	FUNCTIONS_VERBOSE = 1 + (int) FUNCTION_TRACING_VERBOSE,
	/* The same as FUNCTIONS_FAST, with the usual contexts and clock: see section.h. */
	FUNCTIONS_USUAL,
	/* The same where there are no restartable sequences: see announce.h. */
	FUNCTIONS_USUAL_ANNOUNCED,
	/* The same where CPUs have rings, see cpu_section.h. */
	FUNCTIONS_OF_CPU,
	/* What each channel has asked for, where it is not the first alone that has. */
	FUNCTIONS_OF_CHANNELS,
	/* Added to the others: only functions that were chosen by their names. */
	FUNCTIONS_FILTERED = 8,
	/* The same: only calls that meet the filter of a rule. */
	FUNCTIONS_CONDITIONAL = 16,
};

/* Without what was added. */
#define FUNCTIONS_FORM(tracing) ((enum function_tracing)((tracing) & 7))

/* Events that are recorded when they are asked for; those of functions aside. */
enum optional_events {
	EVENTS_BADDR = 1 << 0,
};

/* The contexts of a record: which, by their bits, and the bytes that they take. */
struct context_choice {
	uint32_t chosen;
	uint16_t size;
	/* The counters and the contexts of the program among them, see stream/context_list.h. */
	uint16_t list;
};

/*
 * What is recorded may go to several arenas at once, each with rules and contexts of its own: channels
 * of sessions. A program that `vestige record` has started has one channel, the first.
 */
#define CHANNELS ((uint32_t) MOST_CHANNELS)

/* What is asked of a channel: set before its first event, and not changed while it records. */
struct channel_settings {
	bool is_recording;
	/* Whether another one takes its place: events are no longer chosen for it. */
	bool is_replaced;
	/* Whether the newest packets are kept, else the oldest. The arena tells. */
	bool is_overwriting;
	/* The number of the recording in this process, from 1 on: what a thread keeps of another
	 * one is of no use. It grows before anything of a new one can be seen. */
	uint32_t recording;
	/* What hooks of functions do, whatever other channels ask for. */
	enum function_tracing on_entry;
	enum function_tracing on_exit;
	/* What is done for calls of libraries where nothing is for functions. */
	enum function_tracing on_library_entry;
	enum function_tracing on_library_exit;
	unsigned int events;
	/* With the bytes that they take, but for those of the program: with these, it is so much that
	 * no record is made without a draft. Read and written at once: a thread may be in the middle
	 * of a record when another recording begins. */
	uint64_t contexts;
};

/* Set before the first event of a recording, and not changed while there is one. */
struct settings {
	/* Whether any channel does. */
	bool is_recording;
	bool counter_is_clock;
	/* What hooks of functions do, for all channels. */
	enum function_tracing on_entry;
	enum function_tracing on_exit;
	/* What thunks of library calls do, and the ends of all calls that were rewritten: the same, or
	 * more where hooks do nothing. */
	enum function_tracing on_library_entry;
	enum function_tracing on_library_exit;
	/* Whether child processes are recorded. */
	bool follow_fork;
	/* The environment asks to leave these out of the state dump. */
	bool without_objects;
	bool without_procname;
	/* Whether the directory of the trace has plans, see patch/plan.h. */
	bool has_plans;
	/* Patterns of library calls that are recorded, see patch/library_choice.c; empty without. */
	char library_calls[LIBRARY_PATTERNS_SIZE];
	/* For how many milliseconds the recorder is asked for plans that are not there; 0: it is not
	 * asked. */
	uint32_t plan_wait;
	/* The directory of the trace, absolute: only for those that do not agree, see refusal.h, and
	 * for plans. */
	char directory[PATH_MAX];
	struct channel_settings channels[CHANNELS];
};

extern struct settings settings HIDDEN;

static inline struct context_choice settings_contexts(const struct channel_settings *from)
{
	const uint64_t both = __atomic_load_n(&from->contexts, __ATOMIC_RELAXED);

	return (struct context_choice) {(uint32_t) both, (uint16_t) (both >> 32),
					(uint16_t) (both >> 48)};
}

/* Whether records have the same contexts, in the same order. */
static inline bool settings_are_same(struct context_choice one, struct context_choice other)
{
	return one.chosen == other.chosen && one.list == other.list;
}

static inline void settings_choose_contexts(struct channel_settings *to,
					    struct context_choice choice)
{
	const uint64_t rest = (uint64_t) choice.list << 16 | choice.size;

	__atomic_store_n(&to->contexts, rest << 32 | choice.chosen, __ATOMIC_RELAXED);
}

/* What a hook of functions does, of what was asked for; whether functions are judged before they
 * are recorded. */
enum function_tracing settings_functions(enum function_tracing wanted, bool is_filtered) HIDDEN;
/* Let hooks do what channels have asked for. Where the first alone has, they write the usual records in
 * the usual way, one or the other. */
void settings_join_functions(enum function_tracing usual) HIDDEN;
/* Record nothing more in this process. */
void settings_stop(void) HIDDEN;
/* Record nothing more for a channel. */
void settings_stop_channel(uint32_t channel) HIDDEN;

#endif
