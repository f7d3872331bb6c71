/* The slow path of data streams: making them, and what to do when a packet is full. */
#define _GNU_SOURCE
#include "stream.h"

#include <pthread.h>
#include <stdio.h>

#include "pending.h"
#include "process.h"
#include "scratch.h"
#include "shared_thread.h"
#include "system.h"

/* Streams of threads that had the same ID in one recording. */
#define MOST_NAMESAKES 1000

/* Records dropped without a system call after a file could not be made or written: a full
 * disk must not slow the program down. */
#define DROPPED_AFTER_FAILURE 1023

/* Bytes of a stream's former packets in whose place memory is kept. */
#define MOST_RETIRED (64u << 20)

#define NAME_SIZE (PATH_MAX + 64)
#define STREAM_SIZE 4096u

/* How often a thread calls the destructors of its keys, at most: the last time, the stream
 * is closed, since destructors of the program that come before are traced, too. */
#define DESTRUCTOR_ROUNDS 4

__thread struct stream *stream_of_thread;
/* Whether the thread is in here: what is instrumented and called from here is not traced. */
static __thread bool is_busy __attribute__((tls_model("initial-exec")));
/* How many of those are still to come. */
static __thread unsigned int dropping __attribute__((tls_model("initial-exec")));
/* Whether the thread's stream was closed: nothing opens another at the end of a thread. */
static __thread bool is_closed __attribute__((tls_model("initial-exec")));
/* The packet of the thread, which a child process cannot read from its stream. */
static __thread struct packet *packet_of_thread __attribute__((tls_model("initial-exec")));
/* Where hooks go that a child process finds interrupted. */
static struct packet nowhere;
static pthread_key_t key;
static bool has_key;

static void file_name(const struct stream *stream, bool is_open, char name[NAME_SIZE])
{
	const unsigned int number = (unsigned int) (stream->instance_id & 0x3ff);
	char suffix[16] = "";

	if (number)
		snprintf(suffix, sizeof(suffix), ".%u", number + 1);
	snprintf(name, NAME_SIZE, "%s/%u-%u%s%s", settings.directory, stream->vpid,
		 stream->vtid, suffix, is_open ? ".open" : "");
}

static void start_packet(struct stream *stream)
{
	struct packet *packet = stream->packet;
	const uint64_t now = clock_read();

	/* The content is told first: whoever reads the file finds an empty packet. */
	packet->content_size = sizeof(*packet) * 8;
	compiler_barrier();
	packet->packet_size = settings.packet_size * 8;
	packet->timestamp_begin = now;
	packet->timestamp_end = now;
	stream->last_time = now;
	stream->generation++;
	stream->nested = 0;
	stream->behind = 0;
	stream->is_waiting = false;
	stream->limit = (char *) packet + settings.packet_size;
	stream->next = (char *) (packet + 1);
}

/* Whether a file may grow to a size; the kernel would end the program by a signal. */
static bool may_grow(uint64_t size)
{
	struct rlimit limit;

	return system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long) &limit, 0, 0) != 0 ||
		limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/* Where the limit cannot be asked for, or another thread lowers it, the signal waits. */
static bool is_grown(long result)
{
	if (result == -EFBIG)
		system_take_signal(SIGXFSZ);
	return result == 0;
}

/* Whatever the program's umask is: it needs the file again, and so does the recorder. */
static void make_readable(int file)
{
	system_call(SYS_fchmod, file, 0600, 0, 0, 0, 0);
}

static bool append(int file, const char *bytes, size_t size, uint64_t offset)
{
	while (size) {
		const long written = system_pwrite(file, bytes, size, offset);

		if (written == -EINTR)
			continue;
		if (written <= 0)
			return is_grown(written ? written : -EIO);
		bytes += written;
		size -= (size_t) written;
		offset += (uint64_t) written;
	}
	return true;
}

/* Readers compare the count of lost records with that of the packet before, so the first
 * packet cannot tell any: an empty one comes before it. */
static bool append_origin(int file, struct stream *stream)
{
	struct packet origin = *stream->packet;

	origin.timestamp_end = origin.timestamp_begin;
	origin.content_size = sizeof(origin) * 8;
	origin.packet_size = sizeof(origin) * 8;
	origin.events_discarded = 0;
	/* First, so that the packet is not taken for the one that is in the file. */
	stream->packet->packet_seq_num = 1;
	if (!append(file, (const char *) &origin, sizeof(origin), 0)) {
		stream->packet->packet_seq_num = 0;
		return false;
	}
	stream->file_size = sizeof(origin);
	return true;
}

/* Append the present packet to the data stream file. */
static bool flush_packet(struct stream *stream)
{
	struct packet *packet = stream->packet;
	const size_t size = ((size_t) (stream->next - (char *) packet) + 7) & ~(size_t) 7;
	char name[NAME_SIZE];
	bool is_written;
	int file;

	if (!may_grow(stream->file_size + size))
		return false;
	file_name(stream, false, name);
	/* A file that is gone, or in another root directory, is not begun anew in the middle. */
	file = system_open(name, O_WRONLY | O_NOFOLLOW | (stream->file_size ? 0 : O_CREAT));
	if (file < 0)
		return false;
	if (!stream->file_size)
		make_readable(file);
	packet->packet_size = size * 8;
	is_written = stream->file_size || !packet->events_discarded || append_origin(file, stream);
	is_written = is_written &&
		append(file, (const char *) packet, size, stream->file_size);
	system_close(file);
	if (is_written)
		stream->file_size += size;
	return is_written;
}

/* Give a file blocks: a store to a mapped hole on a full disk would be a signal. */
static bool allocate(int file, size_t size)
{
	static const char zeros[4096];
	const long result = system_call(SYS_fallocate, file, 0, 0, (long) size, 0, 0);

	if (result == 0 || result == -ENOSPC || result == -EFBIG || result == -EDQUOT)
		return is_grown(result);
	/* The file system cannot, or the program is not allowed to. */
	for (size_t offset = 0; offset < size; offset += sizeof(zeros)) {
		if (!append(file, zeros, sizeof(zeros), offset))
			return false;
	}
	return true;
}

/* Create the file of a packet, which must not be there, and map it. */
static struct packet *map_file(const char *name)
{
	void *place = NULL;
	int file = system_open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);

	if (file < 0)
		return NULL;
	make_readable(file);
	if (allocate(file, settings.packet_size))
		place = system_mmap(NULL, settings.packet_size, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_POPULATE, file);
	/* A child process makes its own. */
	if (place && !system_madvise(place, settings.packet_size, MADV_DONTFORK)) {
		system_munmap(place, settings.packet_size);
		place = NULL;
	}
	system_close(file);
	if (!place)
		system_unlink(name);
	return place;
}

static bool map_packet(struct stream *stream)
{
	struct packet *packet = NULL;
	char name[NAME_SIZE];
	char final[NAME_SIZE];

	if (!may_grow(settings.packet_size))
		return false;
	for (; (stream->instance_id & 0x3ff) < MOST_NAMESAKES; stream->instance_id++) {
		file_name(stream, false, final);
		if (system_exists(final))
			continue;
		file_name(stream, true, name);
		packet = map_file(name);
		if (packet || !system_exists(name))
			break;
	}
	if (packet)
		stream->packet = packet_of_thread = packet;
	return packet;
}

static void fill_header(struct stream *stream)
{
	struct packet *packet = stream->packet;

	memcpy(packet->uuid, settings.uuid, sizeof(packet->uuid));
	packet->stream_id = STREAM_CLASS;
	packet->stream_instance_id = stream->instance_id;
	packet->vpid = stream->vpid;
	packet->vtid = stream->vtid;
	memcpy(packet->procname, stream->procname, sizeof(packet->procname));
	packet->events_discarded = process_take_lost();
	start_packet(stream);
	packet->magic = PACKET_MAGIC;
}

/* Memory that a child process finds filled with zeros, above the stack of the slow path. */
static struct stream *new_stream(void)
{
	char *place = system_mmap(NULL, SCRATCH_SIZE + STREAM_SIZE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (!place)
		return NULL;
	if (!system_madvise(place + SCRATCH_SIZE, STREAM_SIZE, MADV_WIPEONFORK)) {
		system_munmap(place, SCRATCH_SIZE + STREAM_SIZE);
		return NULL;
	}
	return (struct stream *) (place + SCRATCH_SIZE);
}

/* Whether fork() has filled the stream with zeros. */
static bool is_new_process(const struct stream *stream)
{
	return stream && !stream->vpid;
}

/* Whether the stream has a packet of this process. */
static bool is_open(const struct stream *stream)
{
	return stream && stream->vpid && stream->packet && stream->packet != &nowhere;
}

/* Give the thread a stream: its first, or its first in a child process. */
static struct stream *open_stream(struct stream *stream)
{
	stream->vpid = system_getpid();
	stream->vtid = system_gettid();
	stream->instance_id = (uint64_t) stream->vpid << 42 | (uint64_t) stream->vtid << 10;
	stream->file_size = 0;
	stream->is_doubtful = false;
	system_thread_name(stream->procname);
	dropping = map_packet(stream) ? 0 : DROPPED_AFTER_FAILURE;
	if (dropping)
		return NULL;
	fill_header(stream);
	if (has_key)
		pthread_setspecific(key, stream);
	return stream;
}

/* Leave memory in place of a packet, where an interrupted record may still be written. */
static void retire(struct packet *packet)
{
	system_call(SYS_mmap, (long) packet, (long) settings.packet_size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/* Move an empty packet to other memory: an interrupted record that was given up would
 * otherwise be written into the next packet, if the program goes back to it. */
static bool move_packet(struct stream *stream)
{
	struct packet *old = stream->packet;
	struct packet *packet;
	char partial[NAME_SIZE];
	char name[NAME_SIZE];

	if (stream->retired >= MOST_RETIRED / settings.packet_size)
		return true;
	file_name(stream, true, name);
	/* No reader takes a hidden file for a data stream. */
	snprintf(partial, sizeof(partial), "%s/.%u-%u", settings.directory, stream->vpid,
		 stream->vtid);
	packet = map_file(partial);
	if (!packet)
		return false;
	*packet = *old;
	if (!system_rename(partial, name)) {
		system_munmap(packet, settings.packet_size);
		system_unlink(partial);
		return false;
	}
	stream->limit = (char *) packet + settings.packet_size;
	stream->packet = packet_of_thread = packet;
	compiler_barrier();
	stream->next = (char *) (packet + 1);
	retire(old);
	stream->retired++;
	stream->is_doubtful = false;
	return true;
}

static struct stream *next_packet(struct stream *stream)
{
	const bool is_empty = stream->next == (char *) (stream->packet + 1);

	/* An empty one that is full could not be moved. */
	if (!is_empty || !stream->is_doubtful) {
		/* A handler that interrupts a record is told rather than that record. */
		pending_end(stream);
		if (!flush_packet(stream)) {
			dropping = DROPPED_AFTER_FAILURE;
			return NULL;
		}
		stream->packet->packet_seq_num++;
		start_packet(stream);
	}
	if (UNLIKELY(stream->is_doubtful) && !move_packet(stream)) {
		stream->limit = stream->next;
		dropping = DROPPED_AFTER_FAILURE;
		return NULL;
	}
	return stream;
}

struct room {
	struct stream *stream;
	struct stream *found;
};

/* What is done on a stack of our own. */
static void make_room(void *argument)
{
	struct room *room = argument;

	if (is_open(room->stream)) {
		room->found = next_packet(room->stream);
		return;
	}
	room->found = open_stream(room->stream);
	if (!room->found)
		return;
	/* The state dump makes records. */
	is_busy = false;
	process_seen();
	is_busy = true;
}

/* Whether we are on the stack of the slow path already. */
static bool is_on_scratch(const struct stream *stream, const char *stack)
{
	return stack < (const char *) stream && stack >= (const char *) stream - SCRATCH_SIZE;
}

struct stream *stream_make_room(struct stream *stream, size_t size)
{
	/* Where the stack of the program ends, its handler runs before signals are blocked. */
	volatile char touched[512] __attribute__((unused));
	const int saved = errno;
	struct room room = {NULL, NULL};
	signals before;

	touched[0] = 0;
	if (UNLIKELY((!stream || !is_open(stream)) && !process_is_followed()))
		settings_stop();
	if (!settings.is_recording)
		return NULL;
	if (shared_thread_is_paused(&stream_of_thread))
		goto lost;
	if (!stream && stream_of_thread)
		return stream_of_thread;
	if (is_busy || is_closed)
		goto lost;
	if (dropping && !is_new_process(stream)) {
		dropping--;
		goto lost;
	}
	/* One that shares our memory, after vfork(), must not open files in our name. */
	if (!process_is_ours() || size + sizeof(struct packet) > settings.packet_size)
		goto lost;
	/* A handler may leave by siglongjmp(): none runs while we are busy. */
	before = system_block_signals();
	is_busy = true;
	if (!stream)
		stream = stream_of_thread = new_stream();
	room.stream = stream;
	if (!stream)
		dropping = DROPPED_AFTER_FAILURE;
	else if (is_on_scratch(stream, stack_pointer()))
		make_room(&room);
	else
		scratch_call((char *) stream, make_room, &room);
	is_busy = false;
	system_restore_signals(before);
lost:
	if (!room.found)
		stream_count_lost(stream);
	errno = saved;
	return room.found;
}

void stream_count_lost(struct stream *stream)
{
	if (is_open(stream))
		/* One instruction where there is one: a handler may count, too. */
		__atomic_fetch_add((uint64_t *) (void *) &stream->packet->events_discarded, 1,
				   __ATOMIC_RELAXED);
	else
		process_count_lost();
}

/* The thread's last packet goes to the file, too. */
static void close_packet(void *argument)
{
	struct stream *stream = argument;
	char name[NAME_SIZE];

	pending_end(stream);
	if (!flush_packet(stream))
		return;
	file_name(stream, true, name);
	system_unlink(name);
}

/* The end of a thread. */
static void close_stream(void *value)
{
	struct stream *stream = value;
	const int saved = errno;
	signals before;

	/* After fork() it is the parent's, and empty here. */
	if (!is_open(stream) || stream != stream_of_thread || !process_is_ours())
		return;
	if (++stream->rounds < DESTRUCTOR_ROUNDS && pthread_setspecific(key, stream) == 0)
		return;
	before = system_block_signals();
	is_busy = true;
	is_closed = true;
	scratch_call((char *) stream, close_packet, stream);
	stream_of_thread = NULL;
	system_munmap(stream->packet, settings.packet_size);
	system_munmap((char *) stream - SCRATCH_SIZE, SCRATCH_SIZE + STREAM_SIZE);
	is_busy = false;
	system_restore_signals(before);
	errno = saved;
}

void stream_after_fork(void)
{
	struct stream *stream = stream_of_thread;
	struct packet *packet = packet_of_thread;

	if (!is_new_process(stream) || !packet)
		return;
	/* A handler that interrupted a hook may have forked. In the child, the hook goes on:
	 * it finds memory in the parent's place, and afterwards no room. */
	retire(packet);
	stream->packet = &nowhere;
	stream->limit = (char *) packet + settings.packet_size;
	stream->next = stream->limit;
}

void streams_start(void)
{
	has_key = pthread_key_create(&key, close_stream) == 0;
}
