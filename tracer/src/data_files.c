/* The data files of a stream: writing packets so that they are valid at any moment. */
#define _GNU_SOURCE
#include <linux/magic.h>
#include <sys/vfs.h>

#include "budget.h"
#include "disk.h"
#include "files.h"
#include "stream.h"
#include "system.h"

/* The rest of a packet for which it is not worth while to write another size. */
#define SMALL_REST 512u
/* Lengths of data files: they are not allocated. */
#define FIRST_CAPACITY ((uint64_t) 16 << 20)
#define MOST_DOUBLINGS 6
/* Blocks that are allocated at once where writing is faster then: on ext4, by two fifths. */
#define AHEAD ((uint64_t) 4 << 20)
/* What a file takes beside its packets: the rest of a block. */
#define FILE_SIZE 4096u

static size_t page_size;

size_t files_start(size_t size_of_page)
{
	page_size = size_of_page;
	/* Two places of two pages for each of two data files. */
	return 8 * page_size;
}

/* The empty packet that covers what is not yet written, between two packets like this one. */
static struct packet cover(const struct packet *like, uint64_t time, uint64_t size)
{
	struct packet packet = *like;

	packet.timestamp_begin = time;
	packet.timestamp_end = time;
	packet.content_size = sizeof(packet) * 8;
	packet.packet_size = size * 8;
	return packet;
}

/* Map the empty packet at an offset of a data file, in the one of two places that is free. */
static void map_cover(struct stream *stream, struct data_file *data, int file, uint64_t offset)
{
	const uint64_t inside = offset & (page_size - 1);
	const size_t size = inside + sizeof(struct packet) > page_size ? 2 * page_size
									: page_size;
	char *place = (char *) stream + page_size;

	data->place ^= 1;
	place += ((data == &stream->chunk ? 2 : 0) + data->place) * 2 * page_size;
	data->cover = NULL;
	if (system_mmap_at(place, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
			   offset - inside) &&
	    disk_populate(place, size))
		data->cover = (struct packet *) (place + inside);
}

/* Take the empty packet at the end of a data file away: no more is written to it. */
static void finish(const struct stream *stream, enum file_kind kind, struct data_file *file)
{
	char name[NAME_SIZE];

	if (!file->capacity)
		return;
	files_name(stream, kind, file->number, false, name);
	if (file->size)
		system_call(SYS_truncate, (long) name, (long) file->size, 0, 0, 0, 0);
	else
		system_unlink(name);
	file->capacity = 0;
	file->size = 0;
	file->cover = NULL;
}

/*
 * Make a data file with an empty packet that covers it.
 *
 * Readers compare the count of lost records with that of the packet before, so the first
 * packet of a stream cannot tell any: another empty one comes before it.
 */
static bool make(struct stream *stream, enum file_kind kind, struct data_file *data,
		 uint64_t capacity)
{
	struct packet *packet = stream->packet;
	const bool has_origin = !stream->has_data && packet->events_discarded;
	/* Readers put files in the order of their first times, and this one comes before that of
	 * the packet to be written. */
	const uint64_t before = stream->previous_end ? stream->previous_end
						      : packet->timestamp_begin - 1;
	struct packet head[2];
	char hidden[NAME_SIZE];
	char name[NAME_SIZE];
	bool is_made;
	int file;

	data->allocated = 0;
	data->size = has_origin ? sizeof(*packet) : 0;
	data->capacity = 0;
	if (has_origin && !packet->packet_seq_num)
		packet->packet_seq_num = 1;
	head[0] = cover(packet, before, sizeof(*packet));
	head[0].packet_seq_num = 0;
	head[0].events_discarded = 0;
	head[has_origin] = cover(packet, before, capacity - data->size);
	files_name(stream, kind, data->number, true, hidden);
	files_name(stream, kind, data->number, false, name);
	file = disk_create(hidden);
	if (file < 0)
		return false;
	is_made = disk_is_grown(system_call(SYS_ftruncate, file, (long) capacity, 0, 0, 0, 0)) &&
		disk_write(file, head, sizeof(head[0]) + data->size, 0) &&
		system_rename(hidden, name);
	if (is_made)
		map_cover(stream, data, file, data->size);
	system_close(file);
	if (is_made)
		data->capacity = capacity;
	else
		system_unlink(hidden);
	return is_made;
}

/* Make the packet that was written valid, and the empty one behind it: by stores, since a
 * process that is killed ends at system calls more often than elsewhere. */
static void commit(struct packet *place, struct packet *next, const struct packet *header)
{
	const uint64_t *from = (const uint64_t *) header;
	volatile uint64_t *to = (volatile uint64_t *) place;

	/* The pages may have to be made writable: that takes the kernel, so it comes first. */
	next->timestamp_begin = header->timestamp_end;
	for (size_t index = 0; index < sizeof(*header) / sizeof(*from); index++) {
		if (&to[index] != &place->packet_size && &to[index] != &place->content_size)
			to[index] = from[index];
	}
	publish_barrier();
	next->magic = PACKET_MAGIC;
	publish_barrier();
	place->content_size = header->content_size;
	place->packet_size = header->packet_size;
	publish_barrier();
}

static bool is_faster_allocated(int file)
{
	struct statfs status;

	return system_call(SYS_fstatfs, file, (long) &status, 0, 0, 0, 0) == 0 &&
		status.f_type == EXT4_SUPER_MAGIC;
}

/* Allocate blocks for the next packets of a thread that writes many. */
static void allocate_ahead(struct data_file *data, int file, size_t size)
{
	const uint64_t needed = data->size + size + sizeof(struct packet);
	uint64_t end = data->size + AHEAD;

	if (data->allocated >= needed || size < settings.packet_size)
		return;
	if (end > data->capacity)
		end = data->capacity;
	if (!is_faster_allocated(file) || end < needed ||
	    system_call(SYS_fallocate, file, 0, (long) data->size, (long) (end - data->size), 0,
			0) != 0)
		/* No more in this file. */
		end = UINT64_MAX;
	data->allocated = end;
}

/* Write the packet into the rest of a data file. */
static bool append(struct stream *stream, enum file_kind kind, struct data_file *data, size_t size)
{
	const struct packet *packet = stream->packet;
	struct packet *const place = data->cover;
	struct packet header = *packet;
	struct packet rest = cover(packet, packet->timestamp_end,
				   data->capacity - data->size - size);
	char name[NAME_SIZE];
	bool is_written;
	int file;

	if (data->size + size + sizeof(rest) > disk_largest_file())
		return false;
	header.packet_size = size * 8;
	/* Readers that look for packets in what may be damaged must not find it yet. */
	rest.magic = 0;
	files_name(stream, kind, data->number, false, name);
	file = system_open(name, O_RDWR | O_NOFOLLOW);
	if (file < 0)
		return false;
	allocate_ahead(data, file, size);
	is_written = disk_write_two(file, packet + 1, size - sizeof(header), &rest, sizeof(rest),
			       data->size + sizeof(header));
	if (is_written)
		map_cover(stream, data, file, data->size + size);
	if (is_written && !(place && data->cover)) {
		rest.magic = PACKET_MAGIC;
		is_written = disk_write(file, &rest, sizeof(rest), data->size + size) &&
			disk_write(file, &header, sizeof(header), data->size);
	}
	system_close(file);
	if (!is_written)
		return false;
	stream->has_data = true;
	if (place && data->cover)
		commit(place, data->cover, &header);
	data->size += size;
	return true;
}

static bool has_room(const struct data_file *data, size_t size)
{
	return data->size + size + sizeof(struct packet) <= data->capacity;
}

/* Whether a file was made for a packet without losses, which did not fit on the disk then and
 * has some now: an empty packet must come before it, see make(). */
static bool lacks_origin(const struct stream *stream, const struct data_file *data)
{
	return !stream->has_data && data->capacity && !data->size &&
		stream->packet->events_discarded;
}

/* Begin another data file, for which room was taken. */
static bool make_next(struct stream *stream, enum file_kind kind, struct data_file *data,
		      size_t size, uint64_t capacity)
{
	const uint64_t largest = disk_largest_file();
	const uint64_t needed = size + 2 * sizeof(struct packet);

	finish(stream, kind, data);
	if (capacity < needed)
		capacity = needed;
	if (capacity > largest)
		capacity = largest & ~(uint64_t) 7;
	return capacity >= needed && make(stream, kind, data, capacity);
}

/* Append to the files of the thread. */
static bool append_to_data(struct stream *stream, size_t size)
{
	struct data_file *data = &stream->data;

	if (lacks_origin(stream, data)) {
		/* Its number and its room are for the next. */
		finish(stream, FILE_DATA, data);
		data->number--;
		budget_give(FILE_SIZE);
	}
	if (!has_room(data, size)) {
		const uint64_t doublings = data->number < MOST_DOUBLINGS ? data->number
									 : MOST_DOUBLINGS;

		if (!budget_take(FILE_SIZE))
			return false;
		data->number++;
		if (!make_next(stream, FILE_DATA, data, size, FIRST_CAPACITY << doublings)) {
			data->number--;
			budget_give(FILE_SIZE);
			return false;
		}
	}
	return append(stream, FILE_DATA, data, size);
}

/* Give a chunk its number, with room for a file. */
static bool reserve_chunk(struct data_file *chunk)
{
	if (!budget_take(FILE_SIZE))
		return false;
	chunk->number = budget_new_chunk();
	chunk->is_reserved = budget_add_to_chunk(chunk->number, FILE_SIZE);
	if (!chunk->is_reserved)
		budget_give(FILE_SIZE);
	return chunk->is_reserved;
}

/* Append to a chunk, which goes away when it is the oldest one. */
static bool append_to_chunk(struct stream *stream, size_t size)
{
	struct data_file *chunk = &stream->chunk;
	const uint64_t part = budget_chunk_size();

	/* A chunk may go away as soon as it is made, if this thread is stopped meanwhile. */
	for (int attempt = 0; attempt < 3; attempt++) {
		if (lacks_origin(stream, chunk)) {
			finish(stream, FILE_CHUNK, chunk);
			chunk->is_reserved = true;
		}
		if (!has_room(chunk, size) || chunk->size >= part ||
		    budget_is_old_chunk(chunk->number)) {
			finish(stream, FILE_CHUNK, chunk);
			if (!chunk->is_reserved && !reserve_chunk(chunk))
				continue;
			/* On a full disk the number is for the next attempt. */
			if (!make_next(stream, FILE_CHUNK, chunk, size, (part + size + 4096) & ~7ull))
				return false;
			chunk->is_reserved = false;
		}
		/* The bytes are the chunk's from here on, and go with it. */
		if (budget_add_to_chunk(chunk->number, size)) {
			if (append(stream, FILE_CHUNK, chunk, size))
				return true;
			if (budget_take_from_chunk(chunk->number, size))
				return false;
			/* It is gone, and they with it: they are taken anew. */
			budget_retake(size);
		}
		files_remove_chunk(chunk->number);
		chunk->capacity = 0;
		chunk->size = 0;
		chunk->cover = NULL;
	}
	return false;
}

bool files_append(struct stream *stream)
{
	const size_t used = (size_t) (stream->next - (char *) stream->packet);
	/* A full packet keeps its size: readers know that two which are the same are one. */
	const size_t size = stream->packet_bytes - used < SMALL_REST ? stream->packet_bytes
								      : (used + 7) & ~(size_t) 7;

	bool is_kept;

	if (!budget_take(size))
		return false;
	is_kept = settings.is_overwriting && stream->keeps && budget_keep(size);
	if (settings.is_overwriting && !is_kept ? append_to_chunk(stream, size)
						: append_to_data(stream, size))
		return true;
	if (is_kept)
		budget_unkeep(size);
	budget_give(size);
	return false;
}

void files_close(struct stream *stream)
{
	char name[NAME_SIZE];

	files_name(stream, FILE_OPEN, 0, false, name);
	system_unlink(name);
	finish(stream, FILE_DATA, &stream->data);
	finish(stream, FILE_CHUNK, &stream->chunk);
	budget_give_memory(stream->packet_bytes);
}
