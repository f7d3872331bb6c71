/* The names of a data stream's files, and the file that is mapped. */
#define _GNU_SOURCE
#include "files.h"

#include <stdio.h>

#include "budget.h"
#include "disk.h"
#include "stream.h"
#include "system.h"

/* Data streams of threads that had the same ID in one recording. */
#define MOST_NAMESAKES 1000
#define NAMESAKE_BITS 0x3ffu
/* The first packet of a thread: most threads of most programs record little. */
#define FIRST_PACKET (16u << 10)
/* How fast packets grow after it. */
#define GROWTH 4

void files_name(const struct stream *stream, enum file_kind kind, uint64_t number,
		bool is_hidden, char name[NAME_SIZE])
{
	unsigned int namesake;
	char suffix[32] = "";
	char part[32] = "";

	if (kind == FILE_CHUNK) {
		snprintf(name, NAME_SIZE, "%s/%s" RING_PREFIX "%llu", settings.directory,
			 is_hidden ? "." : "", (unsigned long long) number);
		return;
	}
	namesake = (unsigned int) (stream->instance_id & NAMESAKE_BITS);
	if (namesake)
		snprintf(suffix, sizeof(suffix), ".%u", namesake + 1);
	if (kind == FILE_DATA && number > 1)
		snprintf(part, sizeof(part), "@%llu", (unsigned long long) number);
	snprintf(name, NAME_SIZE, "%s/%s%u-%u%s%s", settings.directory, is_hidden ? "." : "",
		 stream->name_pid, stream->name_tid, suffix, kind == FILE_OPEN ? OPEN_SUFFIX : part);
}

void files_remove_chunk(uint64_t number)
{
	char name[NAME_SIZE];

	files_name(NULL, FILE_CHUNK, number, false, name);
	system_unlink(name);
}

static struct packet *map(int file, size_t size)
{
	void *place = system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file);

	if (!place)
		return NULL;
	/* A child process makes its own. */
	if (disk_populate(place, size) && system_madvise(place, size, MADV_DONTFORK))
		return place;
	system_munmap(place, size);
	return NULL;
}

/* Make the hidden file for the packet, under a name that no other stream has. */
static int reserve_name(struct stream *stream, char name[NAME_SIZE])
{
	for (; (stream->instance_id & NAMESAKE_BITS) < MOST_NAMESAKES; stream->instance_id++) {
		char other[NAME_SIZE];
		int file;

		files_name(stream, FILE_OPEN, 0, true, name);
		file = disk_create(name);
		if (file < 0 && file != -EEXIST)
			return -1;
		if (file < 0)
			continue;
		files_name(stream, FILE_OPEN, 0, false, other);
		if (!system_exists(other)) {
			files_name(stream, FILE_DATA, 1, false, other);
			if (!system_exists(other))
				return file;
		}
		system_close(file);
		system_unlink(name);
	}
	return -1;
}

bool files_open(struct stream *stream)
{
	const size_t size = settings.packet_size < FIRST_PACKET ? settings.packet_size
								: FIRST_PACKET;
	char name[NAME_SIZE];
	int file;

	if (!budget_take_for_memory(size, true))
		return false;
	file = reserve_name(stream, name);
	if (file >= 0 && disk_allocate(file, size))
		stream->packet = map(file, size);
	if (file >= 0)
		system_close(file);
	if (stream->packet) {
		stream->packet_bytes = size;
		return true;
	}
	if (file >= 0)
		system_unlink(name);
	budget_give_memory(size);
	return false;
}

bool files_show(struct stream *stream)
{
	char hidden[NAME_SIZE];
	char name[NAME_SIZE];

	files_name(stream, FILE_OPEN, 0, true, hidden);
	files_name(stream, FILE_OPEN, 0, false, name);
	if (system_rename(hidden, name))
		return true;
	system_unlink(hidden);
	system_munmap(stream->packet, stream->packet_bytes);
	stream->packet = NULL;
	budget_give_memory(stream->packet_bytes);
	return false;
}

/* Put a larger file in the place of one that is still mapped. To remove that one waits for
 * the disk, some milliseconds when it is busy: the recorder does so at the end. Where the
 * size of the recording is limited, its room is needed before. */
static bool replace(const char *hidden, const char *name, size_t size)
{
	char aside[NAME_SIZE + 24];

	if (settings.max_size || !system_exchange(hidden, name))
		return system_rename(hidden, name);
	snprintf(aside, sizeof(aside), "%s.%zu", hidden, size);
	if (!system_rename(hidden, aside))
		system_unlink(hidden);
	return true;
}

bool files_move(struct stream *stream, bool is_larger)
{
	const size_t before = stream->packet_bytes;
	const size_t wanted = is_larger ? before * GROWTH : before;
	const size_t size = wanted < settings.packet_size ? wanted : settings.packet_size;
	struct packet *packet = NULL;
	char hidden[NAME_SIZE];
	char name[NAME_SIZE];
	int file;

	if (!budget_take_for_memory(size, false))
		return false;
	files_name(stream, FILE_OPEN, 0, true, hidden);
	files_name(stream, FILE_OPEN, 0, false, name);
	file = disk_create(hidden);
	if (file >= 0 && disk_allocate(file, size))
		packet = map(file, size);
	if (file >= 0)
		system_close(file);
	if (packet) {
		*packet = *stream->packet;
		packet->packet_size = size * 8;
	}
	if (!packet || !replace(hidden, name, before)) {
		if (packet)
			system_munmap(packet, size);
		if (file >= 0)
			system_unlink(hidden);
		budget_give_memory(size);
		return false;
	}
	budget_give_memory(before);
	stream->packet = packet;
	stream->packet_bytes = size;
	return true;
}
