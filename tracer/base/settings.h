/* What the recorder asks of the tracer. */
#ifndef VESTIGE_BASE_SETTINGS_H
#define VESTIGE_BASE_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "compiler.h"

/* Those that few recordings have. */
#define MORE_CONTEXTS (~(unsigned int) (CONTEXT_PTHREAD_ID - 1))

/* Those that readers need for source lines, and that records have unless others are chosen. */
#define USUAL_CONTEXTS (CONTEXT_IP | CONTEXT_VPID)

/* What the hook at the entry, or at the exit, of a function does. */
enum function_tracing {
	/* Before the settings are read. */
	FUNCTIONS_UNKNOWN,
	FUNCTIONS_OFF = 1 + (int) FUNCTION_TRACING_OFF,
	FUNCTIONS_FAST = 1 + (int) FUNCTION_TRACING_FAST,
	FUNCTIONS_VERBOSE = 1 + (int) FUNCTION_TRACING_VERBOSE,
	/* The same as FUNCTIONS_FAST, with the usual contexts and clock: see section.h. */
	FUNCTIONS_USUAL,
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

/* Set once, before the first event; never changed after. */
struct settings {
	bool is_recording;
	bool counter_is_clock;
	enum function_tracing on_entry;
	enum function_tracing on_exit;
	unsigned int events;
	/* Whether child processes are recorded. */
	bool follow_fork;
	unsigned int contexts;
	/* Bytes that the contexts of a record take. */
	unsigned int context_size;
	/* The environment asks to leave these out of the state dump. */
	bool without_objects;
	bool without_procname;
	/* Whether the newest packets are kept, else the oldest. The arena tells. */
	bool is_overwriting;
	/* The directory of the trace, absolute: only for those that do not agree, see refusal.h. */
	char directory[PATH_MAX];
};

extern struct settings settings HIDDEN;

/* Begin with what was set, or with nothing where the process is not recorded; whether functions
 * are judged before they are recorded. */
void settings_begin(bool is_recording, bool is_filtered) HIDDEN;
/* Let hooks write the usual records in the usual way, if they are usual. */
void settings_shorten(void) HIDDEN;
/* Record nothing more in this process. */
void settings_stop(void) HIDDEN;

#endif
