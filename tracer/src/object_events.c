/*
 * The event records that tell of objects, as LTTng-UST writes them.
 *
 * See the sections on the state dump and on lttng_ust_lib in lttng-ust(3). The provider
 * ust_baddr is that of the proposal which came before those.
 */
#define _GNU_SOURCE
#include "object_events.h"

#include "stream.h"
#include "system.h"

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
	char name[17] = "";
	struct record record;

	system_thread_name(name);
	if (!record_begin(&record, EVENT_DUMP_PROCNAME, own_ip(), sizeof(name)))
		return;
	write_bytes(&record, name, sizeof(name));
	record_commit(&record);
}

static void record_object(enum event_class class, const struct object *object)
{
	const bool is_dump = class == EVENT_DUMP_BIN_INFO;
	const size_t path_size = strlen(object->path) + 1;
	struct record record;

	if (!record_begin(&record, class, own_ip(), 16 + path_size + (is_dump ? 3 : 2)))
		return;
	write_u64(&record, object->base);
	write_u64(&record, object->size);
	write_bytes(&record, object->path, path_size);
	if (is_dump)
		write_u8(&record, object->is_pic);
	write_u8(&record, object->build_id_size != 0);
	write_u8(&record, object->has_debug_link);
	record_commit(&record);
}

static void record_build_id(enum event_class class, const struct object *object)
{
	struct record record;

	if (!object->build_id_size ||
	    !record_begin(&record, class, own_ip(), 16 + object->build_id_size))
		return;
	write_u64(&record, object->base);
	write_u64(&record, object->build_id_size);
	write_bytes(&record, object->build_id, object->build_id_size);
	record_commit(&record);
}

static void record_debug_link(enum event_class class, const struct object *object)
{
	const size_t size = strlen(object->debug_link) + 1;
	struct record record;

	if (!object->has_debug_link || !record_begin(&record, class, own_ip(), 12 + size))
		return;
	write_u64(&record, object->base);
	write_u32(&record, object->crc);
	write_bytes(&record, object->debug_link, size);
	record_commit(&record);
}

static void record_base(enum event_class class, const struct object *object)
{
	struct record record;

	if (!record_begin(&record, class, own_ip(), 8))
		return;
	write_u64(&record, object->base);
	record_commit(&record);
}

/* Size and time are those of the file, by which another file under its name is found out. */
static void record_file(enum event_class class, const struct object *object)
{
	const size_t path_size = strlen(object->path) + 1;
	struct record record;

	if (!(settings.events & EVENTS_BADDR) || !object->has_file ||
	    !record_begin(&record, class, own_ip(), 24 + path_size))
		return;
	write_u64(&record, object->base);
	write_bytes(&record, object->path, path_size);
	write_u64(&record, (uint64_t) object->file_size);
	write_u64(&record, (uint64_t) object->modified);
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
	record_object(EVENT_DUMP_BIN_INFO, object);
	record_build_id(EVENT_DUMP_BUILD_ID, object);
	record_debug_link(EVENT_DUMP_DEBUG_LINK, object);
	record_file(EVENT_BADDR_INIT, object);
}

void object_events_load(const struct object *object)
{
	if (settings.without_objects)
		return;
	record_object(EVENT_LIB_LOAD, object);
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
