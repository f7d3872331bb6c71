/*
 * The event records that tell of objects, as LTTng-UST writes them.
 *
 * See the sections on the state dump and on lttng_ust_lib in lttng-ust(3). The provider
 * ust_baddr is that of the proposal which came before those.
 */
#define _GNU_SOURCE
#include "events.h"

#include "../base/settings.h"
#include "../base/system.h"
#include "../stream/record.h"

static const void *own_ip(void)
{
	return __builtin_return_address(0);
}

static void record_plain(enum event_class class)
{
	struct record record;

	if (record_begin(&record, class, own_ip(), 0))
		record_commit(&record);
}

static void record_procname(void)
{
	char name[PROCNAME_FIELDS_SIZE] = "";
	struct record record;

	system_thread_name(name);
	if (!record_begin(&record, EVENT_DUMP_PROCNAME, own_ip(), PROCNAME_FIELDS_SIZE))
		return;
	record.at = encode_procname(record.at, name);
	record_commit(&record);
}

static void record_present(const struct object *object)
{
	const size_t path_size = strlen(object->path) + 1;
	struct record record;

	if (!record_begin(&record, EVENT_DUMP_BIN_INFO, own_ip(),
			  BIN_INFO_FIELDS_SIZE(path_size)))
		return;
	record.at = encode_bin_info(record.at, object->base, object->size, object->path,
				    path_size, object->is_pic, object->build_id_size != 0,
				    object->has_debug_link);
	record_commit(&record);
}

static void record_load(const struct object *object)
{
	const size_t path_size = strlen(object->path) + 1;
	struct record record;

	if (!record_begin(&record, EVENT_LIB_LOAD, own_ip(), LOAD_FIELDS_SIZE(path_size)))
		return;
	record.at = encode_load(record.at, object->base, object->size, object->path, path_size,
				object->build_id_size != 0, object->has_debug_link);
	record_commit(&record);
}

static void record_build_id(enum event_class class, const struct object *object)
{
	const size_t size = object->build_id_size;
	struct record record;

	if (!size || !record_begin(&record, class, own_ip(), BUILD_ID_FIELDS_SIZE(size)))
		return;
	record.at = encode_build_id(record.at, object->base, object->build_id, size);
	record_commit(&record);
}

static void record_debug_link(enum event_class class, const struct object *object)
{
	const size_t size = strlen(object->debug_link) + 1;
	struct record record;

	if (!object->has_debug_link ||
	    !record_begin(&record, class, own_ip(), DEBUG_LINK_FIELDS_SIZE(size)))
		return;
	record.at =
		encode_debug_link(record.at, object->base, object->crc, object->debug_link, size);
	record_commit(&record);
}

static void record_base(enum event_class class, const struct object *object)
{
	struct record record;

	if (!record_begin(&record, class, own_ip(), BASE_FIELDS_SIZE))
		return;
	record.at = encode_base(record.at, object->base);
	record_commit(&record);
}

/* Size and time are those of the file, by which another file under its name is found out. */
static void record_file(enum event_class class, const struct object *object)
{
	const size_t path_size = strlen(object->path) + 1;
	struct record record;

	if (!(settings.events & EVENTS_BADDR) || !object->has_file ||
	    !record_begin(&record, class, own_ip(), FILE_FIELDS_SIZE(path_size)))
		return;
	record.at = encode_file(record.at, object->base, object->path, path_size,
				(int64_t) object->file_size, (int64_t) object->modified);
	record_commit(&record);
}

void object_events_start(void)
{
	record_plain(EVENT_DUMP_START);
	if (!settings.without_procname)
		record_procname();
}

void object_events_end(void)
{
	record_plain(EVENT_DUMP_END);
}

void object_events_dump(const struct object *object)
{
	if (settings.without_objects)
		return;
	record_present(object);
	record_build_id(EVENT_DUMP_BUILD_ID, object);
	record_debug_link(EVENT_DUMP_DEBUG_LINK, object);
	record_file(EVENT_BADDR_INIT, object);
}

void object_events_load(const struct object *object)
{
	if (settings.without_objects)
		return;
	record_load(object);
	record_build_id(EVENT_LIB_BUILD_ID, object);
	record_debug_link(EVENT_LIB_DEBUG_LINK, object);
	record_file(EVENT_BADDR_PUSH, object);
}

void object_events_unload(const struct object *object)
{
	if (settings.without_objects)
		return;
	record_base(EVENT_LIB_UNLOAD, object);
	if (settings.events & EVENTS_BADDR && object->has_file)
		record_base(EVENT_BADDR_POP, object);
}
