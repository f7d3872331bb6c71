/*
 * Recordings that begin, change and end while the program runs.
 *
 * Threads are anywhere meanwhile: between a test and what comes of it, or in the middle of a record.
 * So the memory of a recording stays where it is, what is appended late goes there, and what a thread
 * has begun for one recording is not taken by another, see stream_owner().
 */
#include "recording.h"

#include <string.h>

#include "../arena/waiting.h"
#include "../base/process.h"
#include "../objects/looks.h"
#include "../objects/objects.h"
#include "../rules/filter.h"
#include "../rules/rules.h"
#include "../stream/room.h"
#include "../stream/stream.h"
#include "tracepoint.h"
#include "tracing.h"

/* Whether the memory of the last recording is there, and may be gone on with. */
static bool has_place;
/* Whether a thread may still take chunks from a recording that has ended. */
static bool is_stuck;

static bool is_same_place(const struct arena_place *other)
{
	const struct arena_place *place = tracing_place();

	return has_place && place->inode == other->inode && !strcmp(place->path, other->path) &&
		!strcmp(place->socket, other->socket);
}

/* Go on with a recording, or change it. */
static enum joining_status go_on(const struct wanted *wanted)
{
	if (waiting_is_closed())
		return JOINING_FAILED;
	settings.is_recording = true;
	tracepoints_choose();
	tracing_begin_functions(&wanted->settings);
	return JOINING_DONE;
}

static enum joining_status begin_other(const struct wanted *wanted)
{
	const bool is_first = !settings.recording;

	if (is_stuck)
		return JOINING_FAILED;
	tracepoints_forget();
	/* It is the place of none until all of it is there. */
	has_place = false;
	if (!tracing_take_memory(wanted))
		return JOINING_FAILED;
	has_place = true;
	process_begin_again();
	/* Nothing is recorded yet: what has come and gone meanwhile is noted without a word. */
	if (!is_first)
		objects_take_look();
	settings.is_recording = true;
	if (is_first)
		objects_start(filter_forget, false);
	else
		stream_make_room(NULL, EXTENDED_HEADER_SIZE);
	/* Names come before what has them. */
	tracepoints_choose();
	tracing_begin_functions(&wanted->settings);
	return JOINING_DONE;
}

enum joining_status recording_begin(const struct wanted *wanted, const char *rules,
				    size_t rules_size)
{
	const bool is_same = is_same_place(&wanted->place);

	if (settings.is_recording && !is_same)
		return JOINING_BUSY;
	if (is_same && settings.contexts != wanted->settings.contexts)
		return JOINING_FAILED;
	rules_set(rules, rules_size);
	return is_same ? go_on(wanted) : begin_other(wanted);
}

void recording_end(void)
{
	if (!has_place)
		return;
	settings_stop();
	tracepoints_disarm();
	if (!streams_end())
		is_stuck = true;
}

void recording_dump(void)
{
	if (settings.is_recording)
		objects_dump();
}
