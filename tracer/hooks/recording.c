/*
 * Recordings that begin, change and end while the program runs. Each has a channel.
 *
 * Threads are anywhere meanwhile: between a test and what comes of it, or in the middle of a record.
 * So the memory of a recording stays where it is, what is appended late goes there, and what a thread
 * has begun for one recording is not taken by another of the channel, see stream_owner().
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

static struct {
	/* Whether the memory of its last recording is there, and may be gone on with. */
	bool has_place;
	/* Whether a thread may still take chunks from a recording that has ended. */
	bool is_stuck;
	/* Whose it is. */
	unsigned int daemon;
} channels[CHANNELS];
/* Whether objects are known. */
static bool is_begun;

static bool is_recording(uint32_t channel)
{
	return settings.channels[channel].is_recording;
}

/* Whether its last recording was for a daemon. */
static bool is_of(uint32_t channel, unsigned int daemon)
{
	return channels[channel].has_place && channels[channel].daemon == daemon;
}

static bool is_same_place(uint32_t channel, const struct arena_place *other)
{
	const struct arena_place *place = tracing_place(channel);

	return place->inode == other->inode && !strcmp(place->path, other->path) &&
		!strcmp(place->socket, other->socket);
}

/* The channel with an arena of a daemon; CHANNELS: none. */
static uint32_t find(unsigned int daemon, uint64_t arena)
{
	uint32_t channel = 0;

	while (channel < CHANNELS &&
	       !(is_of(channel, daemon) && tracing_place(channel)->inode == arena))
		channel++;
	return channel;
}

/* The channel that records to an arena with this half of an inode; CHANNELS: none, or several. */
static uint32_t find_half(unsigned int daemon, uint32_t half)
{
	uint32_t found = CHANNELS;

	for (uint32_t channel = 0; half && channel < CHANNELS; channel++) {
		if (!is_of(channel, daemon) || !is_recording(channel) ||
		    (uint32_t) tracing_place(channel)->inode != half)
			continue;
		if (found < CHANNELS)
			return CHANNELS;
		found = channel;
	}
	return found;
}

/* A channel for another arena, the first before others, since its records cost least. */
static uint32_t find_free(void)
{
	uint32_t channel = 0;

	while (channel < CHANNELS && (is_recording(channel) || channels[channel].is_stuck))
		channel++;
	return channel;
}

/* Let hooks do what channels have asked for. */
static void begin_events(uint32_t channel, const struct wanted *wanted)
{
	/* Names come before what has them. */
	tracepoints_choose();
	tracing_begin_functions(channel, &wanted->settings);
}

static void set_recording(uint32_t channel)
{
	settings.is_recording = true;
	settings.channels[channel].is_recording = true;
}

static void end(uint32_t channel)
{
	settings_stop_channel(channel);
	tracepoints_choose();
	tracing_join_functions();
	if (!streams_end(channel))
		channels[channel].is_stuck = true;
}

/* Events are of the one or of the other. */
static void begin_in_place_of(uint32_t other, uint32_t channel, const struct wanted *wanted)
{
	if (other == CHANNELS || other == channel) {
		begin_events(channel, wanted);
		return;
	}
	settings.channels[other].is_replaced = true;
	begin_events(channel, wanted);
	end(other);
	settings.channels[other].is_replaced = false;
}

/* Go on with a recording, or change it. */
static enum joining_status go_on(uint32_t channel, const struct wanted *wanted, uint32_t replaced)
{
	if (waiting_is_closed(&arenas[channel]))
		return JOINING_FAILED;
	set_recording(channel);
	begin_in_place_of(replaced, channel, wanted);
	return JOINING_DONE;
}

static enum joining_status begin_other(uint32_t channel, const struct wanted *wanted,
				       uint32_t replaced)
{
	tracepoints_forget(channel);
	/* It is the place of none until all of it is there. */
	channels[channel].has_place = false;
	if (!tracing_take_memory(channel, wanted))
		return JOINING_FAILED;
	channels[channel].has_place = true;
	process_begin_again(channel);
	/* Nothing is recorded to it yet: what has come and gone meanwhile is not told there. */
	if (is_begun)
		objects_take_look();
	set_recording(channel);
	if (is_begun)
		stream_make_room(channel, NULL, EXTENDED_HEADER_SIZE);
	else
		objects_start(channel, filter_forget, false);
	is_begun = true;
	begin_in_place_of(replaced, channel, wanted);
	return JOINING_DONE;
}

enum joining_status recording_begin(unsigned int daemon, const struct wanted *wanted,
				    const char *rules, size_t rules_size, uint32_t replaced_half)
{
	const uint32_t replaced = find_half(daemon, replaced_half);
	uint32_t channel = find(daemon, wanted->place.inode);
	const bool is_known = channel < CHANNELS && is_same_place(channel, &wanted->place);

	if (!is_known)
		channel = find_free();
	if (channel == CHANNELS)
		return JOINING_BUSY;
	/* All have the same clock, which is that of the machine. */
	if (settings.is_recording &&
	    settings.counter_is_clock != wanted->settings.counter_is_clock)
		return JOINING_FAILED;
	if (is_known &&
	    settings.channels[channel].contexts != wanted->settings.channels[0].contexts)
		return JOINING_FAILED;
	channels[channel].daemon = daemon;
	rules_set(channel, rules, rules_size);
	return is_known ? go_on(channel, wanted, replaced)
			: begin_other(channel, wanted, replaced);
}

void recording_end(unsigned int daemon, uint64_t arena)
{
	const uint32_t channel = find(daemon, arena);

	if (channel < CHANNELS)
		end(channel);
}

void recording_dump(unsigned int daemon, uint64_t arena)
{
	const uint32_t channel = find(daemon, arena);

	if (channel < CHANNELS && is_recording(channel))
		objects_dump(channel);
}

void recording_tell(unsigned int daemon, uint64_t inodes[CHANNELS])
{
	uint32_t count = 0;

	memset(inodes, 0, CHANNELS * sizeof(inodes[0]));
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		if (is_of(channel, daemon) && is_recording(channel))
			inodes[count++] = tracing_place(channel)->inode;
}
