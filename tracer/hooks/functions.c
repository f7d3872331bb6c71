/*
 * Function tracing: the hooks of programs that are compiled with -finstrument-functions.
 *
 * See the section on instrumentation options in the GCC manual. The events are those of
 * LTTng-UST's helper libraries liblttng-ust-cyg-profile and liblttng-ust-cyg-profile-fast.
 */
#include "functions.h"

#include "../base/settings.h"
#include "../rules/filter.h"
#include "../rules/function_events.h"
#include "../stream/announce.h"
#include "../stream/cpu_section.h"
#include "../stream/record.h"
#include "../stream/section.h"
#include "tracing.h"

EXPORTED void __cyg_profile_func_enter(void *function, void *call_site);
EXPORTED void __cyg_profile_func_exit(void *function, void *call_site);

static INLINED void trace_entry_of(uint32_t channel, void *function)
{
	struct record record;

	if (!record_begin(&record, (struct destination) {channel, EVENT_FAST_ENTRY}, function,
			  ADDR_FIELDS_SIZE))
		return;
	record.at = encode_addr(record.at, (uintptr_t) function);
	record_commit(&record);
}

static INLINED void trace_exit_of(uint32_t channel, void *function)
{
	struct record record;

	if (!record_begin(&record, (struct destination) {channel, EVENT_FAST_EXIT}, function, 0))
		return;
	record_commit(&record);
}

static APART void trace_entry(void *function)
{
	trace_entry_of(0, function);
}

static APART void trace_exit(void *function)
{
	trace_exit_of(0, function);
}

static void announce_entry(void *function)
{
	if (UNLIKELY(!announce_append_entry(EVENT_FAST_ENTRY, function)))
		trace_entry(function);
}

static void announce_exit(void *function)
{
	if (UNLIKELY(!announce_append_exit(EVENT_FAST_EXIT, function)))
		trace_exit(function);
}

static APART void trace_verbose(struct destination to, void *function, void *call_site)
{
	struct record record;

	if (!record_begin(&record, to, function, CALL_FIELDS_SIZE))
		return;
	record.at = encode_call(record.at, (uintptr_t) function, (uintptr_t) call_site);
	record_commit(&record);
}

typedef bool passes_function(uint32_t channel, const void *function, const void *call_site);

/* What a hook does for a channel, which may record nothing any more. */
static INLINED enum function_tracing find_tracing_of(uint32_t channel,
						     const enum function_tracing *setting,
						     passes_function *passes, void *function,
						     void *call_site)
{
	const enum function_tracing tracing = *(const volatile enum function_tracing *) setting;

	if ((tracing & FUNCTIONS_CONDITIONAL) && !passes(channel, function, call_site))
		return FUNCTIONS_OFF;
	return FUNCTIONS_FORM(tracing);
}

static APART void trace_entry_of_channels(void *function, void *call_site)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		const enum function_tracing tracing =
			find_tracing_of(channel, &settings.channels[channel].on_entry,
					function_entry_passes, function, call_site);

		if (tracing == FUNCTIONS_FAST)
			trace_entry_of(channel, function);
		else if (tracing == FUNCTIONS_VERBOSE)
			trace_verbose((struct destination) {channel, EVENT_ENTRY}, function,
				      call_site);
	}
}

static APART void trace_exit_of_channels(void *function, void *call_site)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		const enum function_tracing tracing =
			find_tracing_of(channel, &settings.channels[channel].on_exit,
					function_exit_passes, function, call_site);

		if (tracing == FUNCTIONS_FAST)
			trace_exit_of(channel, function);
		else if (tracing == FUNCTIONS_VERBOSE)
			trace_verbose((struct destination) {channel, EVENT_EXIT}, function,
				      call_site);
	}
}

/* What one of the hooks does with a function that is not recorded the usual way. */
static INLINED enum function_tracing find_tracing(const enum function_tracing *setting,
						  passes_function *passes, void *function,
						  void *call_site)
{
	if (*setting == FUNCTIONS_UNKNOWN)
		tracing_start();
	if ((*setting & FUNCTIONS_FILTERED) && !filter_passes(function))
		return FUNCTIONS_OFF;
	if ((*setting & FUNCTIONS_CONDITIONAL) && !passes(0, function, call_site))
		return FUNCTIONS_OFF;
	return FUNCTIONS_FORM(*setting);
}

static APART void trace_entry_otherwise(const enum function_tracing *setting, void *function,
					void *call_site)
{
	const enum function_tracing tracing =
		find_tracing(setting, function_entry_passes, function, call_site);

	if (tracing == FUNCTIONS_USUAL_ANNOUNCED)
		announce_entry(function);
	else if (tracing == FUNCTIONS_FAST ||
		 (tracing == FUNCTIONS_USUAL &&
		  !section_append_usual(EVENT_FAST_ENTRY, function, true)) ||
		 (tracing == FUNCTIONS_OF_CPU &&
		  !cpu_section_append_usual(EVENT_FAST_ENTRY, function, true)))
		trace_entry(function);
	else if (tracing == FUNCTIONS_VERBOSE)
		trace_verbose((struct destination) {0, EVENT_ENTRY}, function, call_site);
	else if (tracing == FUNCTIONS_OF_CHANNELS)
		trace_entry_of_channels(function, call_site);
}

static APART void trace_exit_otherwise(const enum function_tracing *setting, void *function,
				       void *call_site)
{
	const enum function_tracing tracing =
		find_tracing(setting, function_exit_passes, function, call_site);

	if (tracing == FUNCTIONS_USUAL_ANNOUNCED)
		announce_exit(function);
	else if (tracing == FUNCTIONS_FAST ||
		 (tracing == FUNCTIONS_USUAL &&
		  !section_append_usual(EVENT_FAST_EXIT, function, false)) ||
		 (tracing == FUNCTIONS_OF_CPU &&
		  !cpu_section_append_usual(EVENT_FAST_EXIT, function, false)))
		trace_exit(function);
	else if (tracing == FUNCTIONS_VERBOSE)
		trace_verbose((struct destination) {0, EVENT_EXIT}, function, call_site);
	else if (tracing == FUNCTIONS_OF_CHANNELS)
		trace_exit_of_channels(function, call_site);
}

/* What is not in a section is jumped to, so that the hooks need no frame. */
static INLINED void record_entry(const enum function_tracing *setting, void *function,
				 void *call_site)
{
	if (LIKELY(*setting == FUNCTIONS_USUAL)) {
		if (UNLIKELY(!section_append_usual(EVENT_FAST_ENTRY, function, true)))
			trace_entry(function);
	} else if (*setting == FUNCTIONS_OF_CPU) {
		if (UNLIKELY(!cpu_section_append_usual(EVENT_FAST_ENTRY, function, true)))
			trace_entry(function);
	} else if (*setting == FUNCTIONS_USUAL_ANNOUNCED) {
		announce_entry(function);
	} else if (*setting != FUNCTIONS_OFF) {
		trace_entry_otherwise(setting, function, call_site);
	}
}

static INLINED void record_exit(const enum function_tracing *setting, void *function,
				void *call_site)
{
	if (LIKELY(*setting == FUNCTIONS_USUAL)) {
		if (UNLIKELY(!section_append_usual(EVENT_FAST_EXIT, function, false)))
			trace_exit(function);
	} else if (*setting == FUNCTIONS_OF_CPU) {
		if (UNLIKELY(!cpu_section_append_usual(EVENT_FAST_EXIT, function, false)))
			trace_exit(function);
	} else if (*setting == FUNCTIONS_USUAL_ANNOUNCED) {
		announce_exit(function);
	} else if (*setting != FUNCTIONS_OFF) {
		trace_exit_otherwise(setting, function, call_site);
	}
}

void __cyg_profile_func_enter(void *function, void *call_site)
{
	record_entry(&settings.on_entry, function, call_site);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	record_exit(&settings.on_exit, function, call_site);
}

void function_entered(void *function, void *call_site)
{
	record_entry(&settings.on_entry, function, call_site);
}

void function_left(void *function, void *call_site)
{
	record_exit(&settings.on_exit, function, call_site);
}

void library_function_entered(void *function, void *call_site)
{
	record_entry(&settings.on_library_entry, function, call_site);
}

void library_function_left(void *function, void *call_site)
{
	record_exit(&settings.on_library_exit, function, call_site);
}
