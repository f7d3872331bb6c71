/* Starting to trace: here, what the rooms have is put together. */
#define _GNU_SOURCE
#include "tracing.h"

#include <stdatomic.h>
#include <unistd.h>

#include "../arena/map.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../objects/loads.h"
#include "../objects/objects.h"
#include "../rules/filter.h"
#include "../rules/function_events.h"
#include "../rules/patterns.h"
#include "../rules/rules.h"
#include "../stream/perf_counter.h"
#include "../stream/section.h"
#include "../stream/stream.h"
#include "forking.h"
#include "settings_words.h"

static atomic_flag is_begun = ATOMIC_FLAG_INIT;
static struct arena_place place;

static bool read_settings(void)
{
	const bool is_asked = settings_words_read(&place);
	/* A look at each function for the first time, also where it may be in an object that
	 * nobody told of. */
	const bool is_filtered = patterns.count || !objects_are_told();

	settings_begin(is_asked, is_filtered);
	return is_asked;
}

/* When a thread has got its first chunk: the first one in a process tells what is loaded. */
static void tell_objects(void)
{
	if (process_must_dump())
		objects_dump();
	else
		objects_wait();
}

static bool begin(void)
{
	if (!process_begin() || !arena_map(&place))
		return false;
	settings.is_overwriting = arena.is_overwriting;
	if (!streams_start(tell_objects))
		return false;
	rules_start();
	function_events_start();
	perf_counters_start();
	forking_start();
	if (section_is_possible())
		settings_shorten();
	return true;
}

void tracing_start(void)
{
	/* An address that the dynamic linker fills in: it calls resolvers of indirect
	 * functions, which may be traced, before it has got to this library. */
	static struct settings *const volatile linked = &settings;

	/* The C library fills in the environment when it begins. */
	if (linked != &settings || !environ || atomic_flag_test_and_set(&is_begun))
		return;
	if (!read_settings() || !begin()) {
		settings_stop();
		return;
	}
	objects_start(filter_forget);
}

const struct arena_place *tracing_place(void)
{
	return &place;
}

/* Where nothing was traced before: constructors of other libraries come first. */
static __attribute__((constructor(101))) void start(void)
{
	tracing_start();
}
