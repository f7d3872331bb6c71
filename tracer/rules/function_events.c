/*
 * What the rules say of calls of functions.
 *
 * The hooks record without a provider, so what rules ask of an event is here: its name, its log
 * level and its fields. They are applied once, when the program begins: what has no filter
 * costs nothing afterwards.
 */
#include "function_events.h"

#include "../base/settings.h"
#include "expression_run.h"
#include "rules.h"

#define FAST_PROVIDER "lttng_ust_cyg_profile_fast"
#define VERBOSE_PROVIDER "lttng_ust_cyg_profile"

static const struct vestige_field fields[] = {
	{.name = "addr", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL, .size = 8},
	{.name = "call_site", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL, .size = 8},
};

#define FIRST_FIELDS(count)                                 \
	{.struct_size = sizeof(struct vestige_event_class), \
	 .field_count = (count),                            \
	 .fields = fields}
static const struct vestige_event_class fast_entry = FIRST_FIELDS(1);
static const struct vestige_event_class fast_exit = FIRST_FIELDS(0);
static const struct vestige_event_class verbose = FIRST_FIELDS(2);

static struct vestige_event entry_event = {.name = "func_entry", .log_level = LEVEL_FUNCTION};
static struct vestige_event exit_event = {.name = "func_exit", .log_level = LEVEL_FUNCTION};

/* One store, since hooks look at it. */
static void choose(enum function_tracing *setting, enum function_tracing wanted,
		   struct vestige_event *event, const struct vestige_event_class *fast)
{
	const bool is_fast = FUNCTIONS_FORM(wanted) == FUNCTIONS_FAST;
	const struct vestige_provider provider = {
		.name = is_fast ? FAST_PROVIDER : VERBOSE_PROVIDER,
	};

	if (FUNCTIONS_FORM(wanted) == FUNCTIONS_OFF) {
		__atomic_store_n(setting, FUNCTIONS_OFF, __ATOMIC_RELEASE);
		return;
	}
	event->event_class = is_fast ? fast : &verbose;
	if (!rules_choose(&provider, event))
		wanted = FUNCTIONS_OFF;
	else if (event->filter)
		wanted |= FUNCTIONS_CONDITIONAL;
	__atomic_store_n(setting, wanted, __ATOMIC_RELEASE);
}

void function_events_start(enum function_tracing entry, enum function_tracing exit)
{
	choose(&settings.on_entry, entry, &entry_event, &fast_entry);
	choose(&settings.on_exit, exit, &exit_event, &fast_exit);
}

static bool passes(const struct vestige_event *event, const void *function, const void *call_site)
{
	const struct vestige_value values[] = {
		{.as.integer = (int64_t) (uintptr_t) function},
		{.as.integer = (int64_t) (uintptr_t) call_site},
	};

	return expression_passes(event->filter, values, function);
}

bool function_entry_passes(const void *function, const void *call_site)
{
	return passes(&entry_event, function, call_site);
}

bool function_exit_passes(const void *function, const void *call_site)
{
	return passes(&exit_event, function, call_site);
}
