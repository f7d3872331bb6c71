/* Starting to trace: here, what the rooms have is put together. */
#define _GNU_SOURCE
#include "tracing.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../agreement/registration.h"
#include "../arena/map.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../objects/loads.h"
#include "../objects/objects.h"
#include "../rules/filter.h"
#include "../rules/function_events.h"
#include "../rules/patterns.h"
#include "../rules/rules.h"
#include "../stream/cpu_ring.h"
#include "../stream/perf_counter.h"
#include "../stream/section.h"
#include "../stream/stream.h"
#include "environment.h"
#include "forking.h"
#include "meeting.h"
#include "settings_words.h"

static atomic_flag is_begun = ATOMIC_FLAG_INIT;
/* Whether recordings may begin later. */
static bool is_expected;
/* Whether threads may wait for room in the channels of sessions, where these say so. */
static bool may_wait;
/* Of the recordings, or of the last ones. */
static struct arena_place places[CHANNELS];

/* When a thread has got its first chunk: the first one in a process tells what is loaded. */
static void tell_objects(uint32_t channel)
{
	if (process_must_dump(channel))
		objects_dump(channel);
	else
		objects_wait();
}

/* Take the settings over, but what lets hooks record. */
static void take_settings(uint32_t channel, const struct settings *from)
{
	struct channel_settings *to = &settings.channels[channel];

	settings.counter_is_clock = from->counter_is_clock;
	settings.follow_fork = from->follow_fork;
	settings.without_objects = from->without_objects;
	settings.without_procname = from->without_procname;
	settings.has_plans = from->has_plans;
	memcpy(settings.library_calls, from->library_calls, sizeof(settings.library_calls));
	settings.plan_wait = from->plan_wait;
	to->events = from->channels[0].events;
	to->contexts = from->channels[0].contexts;
	memcpy(settings.directory, from->directory, sizeof(settings.directory));
}

void tracing_join_functions(void)
{
	settings_join_functions(!section_is_possible() ? FUNCTIONS_USUAL_ANNOUNCED
					: arenas[0].base && cpu_rings_are_there(0)
					? FUNCTIONS_OF_CPU
					: FUNCTIONS_USUAL);
}

void tracing_begin_functions(uint32_t channel, const struct settings *wanted)
{
	/* A look at each function for the first time, also where it may be in an object that
	 * nobody told of. */
	const bool is_filtered = patterns.count || !objects_are_told();

	settings.channels[channel].on_library_entry =
		settings_functions(wanted->on_library_entry, is_filtered);
	settings.channels[channel].on_library_exit =
		settings_functions(wanted->on_library_exit, is_filtered);
	function_events_start(channel, settings_functions(wanted->on_entry, is_filtered),
			      settings_functions(wanted->on_exit, is_filtered));
	tracing_join_functions();
}

bool tracing_take_memory(uint32_t channel, const struct wanted *wanted)
{
	struct channel_settings *to = &settings.channels[channel];
	static uint32_t recordings;

	if (!process_begin())
		return false;
	/* Whoever sees the new number sees that no event has a class. */
	__atomic_store_n(&to->recording, ++recordings, __ATOMIC_RELEASE);
	take_settings(channel, &wanted->settings);
	places[channel] = wanted->place;
	if (!arena_map(&arenas[channel], &places[channel]))
		return false;
	if (is_expected && !may_wait)
		arenas[channel].wait_ns = 0;
	to->is_overwriting = arenas[channel].is_overwriting;
	if (!streams_start(channel, tell_objects))
		return false;
	perf_counters_start();
	forking_start();
	return true;
}

static bool begin(const struct wanted *wanted)
{
	if (!tracing_take_memory(0, wanted))
		return false;
	rules_set(0, arenas[0].rules, arenas[0].rules_size);
	settings.is_recording = true;
	settings.channels[0].is_recording = true;
	tracing_begin_functions(0, &wanted->settings);
	return true;
}

void tracing_start(void)
{
	/* An address that the dynamic linker fills in: it calls resolvers of indirect
	 * functions, which may be traced, before it has got to this library. */
	static struct settings *const volatile linked = &settings;
	static struct wanted wanted;

	/* The C library fills in the environment when it begins. */
	if (linked != &settings || !environ || atomic_flag_test_and_set(&is_begun))
		return;
	if (!settings_words_read(&wanted)) {
		settings_stop();
		is_expected =
			!secure_getenv(SETTINGS_VARIABLE) && meeting_find() && process_begin();
		may_wait = secure_getenv(BLOCKING_VARIABLE);
		if (is_expected)
			forking_start();
		return;
	}
	if (!begin(&wanted)) {
		settings_stop();
		return;
	}
	environment_keep();
	objects_start(0, filter_forget, true);
}

const struct arena_place *tracing_place(uint32_t channel)
{
	return &places[channel];
}

bool tracing_is_possible(void)
{
	return settings.is_recording || is_expected;
}

bool tracing_is_expected(void)
{
	return is_expected;
}

/* Where nothing was traced before: constructors of other libraries come first. */
static __attribute__((constructor(101))) void start(void)
{
	tracing_start();
}
