/*
 * The event records that tell of objects, as LTTng-UST writes them.
 *
 * See the sections on the state dump and on lttng_ust_lib in lttng-ust(3). The provider
 * ust_baddr is that of the proposal which came before those.
 */
#define _GNU_SOURCE
#include "events.h"

#include "../arena/slot.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "../stream/record.h"

static __thread uint32_t chosen __attribute__((tls_model("initial-exec")));

uint32_t object_events_choose(uint32_t channels)
{
	const uint32_t before = chosen;

	chosen = channels;
	return before;
}

/* Whether a channel is told. */
static bool is_told(uint32_t channel)
{
	return settings.channels[channel].is_recording && (!chosen || chosen & 1u << channel);
}

void object_events_count_lost(void)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		if (is_told(channel))
			arena_count_lost(&arenas[channel]);
}

static const void *own_ip(void)
{
	return __builtin_return_address(0);
}

static void record_plain(uint32_t channel, enum event_class class)
{
	struct record record;

	if (record_begin(&record, (struct destination) {channel, class}, own_ip(), 0))
		record_commit(&record);
}

static void record_procname(uint32_t channel)
{
	char name[PROCNAME_FIELDS_SIZE] = "";
	struct record record;

	system_thread_name(name);
	if (!record_begin(&record, (struct destination) {channel, EVENT_DUMP_PROCNAME}, own_ip(),
			  PROCNAME_FIELDS_SIZE))
		return;
	record.at = encode_procname(record.at, name);
	record_commit(&record);
}

static void record_present(uint32_t channel, const struct object *object)
{
	const size_t path_size = strlen(object->path) + 1;
	struct record record;

	if (!record_begin(&record, (struct destination) {channel, EVENT_DUMP_BIN_INFO}, own_ip(),
			  BIN_INFO_FIELDS_SIZE(path_size)))
		return;
	record.at = encode_bin_info(record.at, object->base, object->size, object->path,
				    path_size, object->is_pic, object->build_id_size != 0,
				    object->has_debug_link);
	record_commit(&record);
}

static void record_load(uint32_t channel, const struct object *object)
{
	const size_t path_size = strlen(object->path) + 1;
	struct record record;

	if (!record_begin(&record, (struct destination) {channel, EVENT_LIB_LOAD}, own_ip(),
			  LOAD_FIELDS_SIZE(path_size)))
		return;
	record.at = encode_load(record.at, object->base, object->size, object->path, path_size,
				object->build_id_size != 0, object->has_debug_link);
	record_commit(&record);
}

static void record_build_id(uint32_t channel, enum event_class class, const struct object *object)
{
	const size_t size = object->build_id_size;
	struct record record;

	if (!size ||
	    !record_begin(&record, (struct destination) {channel, class}, own_ip(),
			  BUILD_ID_FIELDS_SIZE(size)))
		return;
	record.at = encode_build_id(record.at, object->base, object->build_id, size);
	record_commit(&record);
}

static void record_debug_link(uint32_t channel, enum event_class class,
			      const struct object *object)
{
	const size_t size = strlen(object->debug_link) + 1;
	struct record record;

	if (!object->has_debug_link ||
	    !record_begin(&record, (struct destination) {channel, class}, own_ip(),
			  DEBUG_LINK_FIELDS_SIZE(size)))
		return;
	record.at =
		encode_debug_link(record.at, object->base, object->crc, object->debug_link, size);
	record_commit(&record);
}

static void record_base(uint32_t channel, enum event_class class, const struct object *object)
{
	struct record record;

	if (!record_begin(&record, (struct destination) {channel, class}, own_ip(),
			  BASE_FIELDS_SIZE))
		return;
	record.at = encode_base(record.at, object->base);
	record_commit(&record);
}

/* Size and time are those of the file, by which another file under its name is found out. */
static void record_file(uint32_t channel, enum event_class class, const struct object *object)
{
	const size_t path_size = strlen(object->path) + 1;
	struct record record;

	if (!(settings.channels[channel].events & EVENTS_BADDR) || !object->has_file ||
	    !record_begin(&record, (struct destination) {channel, class}, own_ip(),
			  FILE_FIELDS_SIZE(path_size)))
		return;
	record.at = encode_file(record.at, object->base, object->path, path_size,
				(int64_t) object->file_size, (int64_t) object->modified);
	record_commit(&record);
}

void object_events_start(void)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		if (!is_told(channel))
			continue;
		record_plain(channel, EVENT_DUMP_START);
		if (!settings.without_procname)
			record_procname(channel);
	}
}

void object_events_end(void)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		if (is_told(channel))
			record_plain(channel, EVENT_DUMP_END);
}

void object_events_dump(const struct object *object)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		if (settings.without_objects || !is_told(channel))
			continue;
		record_present(channel, object);
		record_build_id(channel, EVENT_DUMP_BUILD_ID, object);
		record_debug_link(channel, EVENT_DUMP_DEBUG_LINK, object);
		record_file(channel, EVENT_BADDR_INIT, object);
	}
}

void object_events_load(const struct object *object)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		if (settings.without_objects || !is_told(channel))
			continue;
		record_load(channel, object);
		record_build_id(channel, EVENT_LIB_BUILD_ID, object);
		record_debug_link(channel, EVENT_LIB_DEBUG_LINK, object);
		record_file(channel, EVENT_BADDR_PUSH, object);
	}
}

void object_events_unload(const struct object *object)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		if (settings.without_objects || !is_told(channel))
			continue;
		record_base(channel, EVENT_LIB_UNLOAD, object);
		if (settings.channels[channel].events & EVENTS_BADDR && object->has_file)
			record_base(channel, EVENT_BADDR_POP, object);
	}
}
