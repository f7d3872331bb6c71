/*
 * What the rules say of calls of functions.
 *
 * The hooks record without a provider, so what rules ask of an event is here: its name, its log
 * level and its fields. They are applied when a recording begins or changes: what has no filter
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

/* By channels. */
static const void *entry_filters[CHANNELS];
static const void *exit_filters[CHANNELS];

/* What a hook does for a channel. */
static enum function_tracing choose(uint32_t channel, const char *name,
				    enum function_tracing wanted,
				    const struct vestige_event_class *fast, const void **filter)
{
	const bool is_fast = FUNCTIONS_FORM(wanted) == FUNCTIONS_FAST;
	const struct vestige_provider provider = {
		.name = is_fast ? FAST_PROVIDER : VERBOSE_PROVIDER,
	};
	const struct vestige_event event = {
		.name = name,
		.event_class = is_fast ? fast : &verbose,
		.log_level = LEVEL_FUNCTION,
	};

	if (FUNCTIONS_FORM(wanted) == FUNCTIONS_OFF ||
	    !rules_choose(channel, &provider, &event, filter))
		return FUNCTIONS_OFF;
	return *filter ? wanted | FUNCTIONS_CONDITIONAL : wanted;
}

void function_events_start(uint32_t channel, enum function_tracing entry,
			   enum function_tracing exit)
{
	struct channel_settings *to = &settings.channels[channel];

	/* One store each, since hooks look at them. */
	__atomic_store_n(
		&to->on_entry,
		choose(channel, "func_entry", entry, &fast_entry, &entry_filters[channel]),
		__ATOMIC_RELEASE);
	__atomic_store_n(&to->on_exit,
			 choose(channel, "func_exit", exit, &fast_exit, &exit_filters[channel]),
			 __ATOMIC_RELEASE);
}

static bool passes(const void *filter, const void *function, const void *call_site)
{
	const struct vestige_value values[] = {
		{.as.integer = (int64_t) (uintptr_t) function},
		{.as.integer = (int64_t) (uintptr_t) call_site},
	};

	return expression_passes(filter, values, function);
}

bool function_entry_passes(uint32_t channel, const void *function, const void *call_site)
{
	return passes(entry_filters[channel], function, call_site);
}

bool function_exit_passes(uint32_t channel, const void *function, const void *call_site)
{
	return passes(exit_filters[channel], function, call_site);
}
