/* The slow path of data streams: making them, and what to do when a packet is full. */
#define _GNU_SOURCE
#include "stream.h"

#include <pthread.h>
#include <stdatomic.h>

#include "pending.h"
#include "perf_counter.h"
#include "process.h"
#include "scratch.h"
#include "shared_thread.h"
#include "system.h"

/* Records dropped without a system call after a file could not be made or written: a full
 * disk must not slow the program down. */
#define DROPPED_AFTER_FAILURE 1023

/* Bytes of a stream's former packets in whose place memory is kept. */
#define MOST_RETIRED (64u << 20)

/* Streams of threads that have ended, for threads that are to come. */
#define MOST_ENDED 1024

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
static __thread size_t size_of_packet __attribute__((tls_model("initial-exec")));
/* Where hooks go that a child process finds interrupted. */
static struct packet nowhere;
static pthread_key_t key;
static bool has_key;
/* Bytes of a stream, with the places behind it where files are mapped. */
static size_t stream_size;
static size_t page_size;
/* In memory that a child process finds filled with zeros. */
static struct stream *_Atomic *ended;

static void start_packet(struct stream *stream)
{
	struct packet *packet = stream->packet;
	const uint64_t now = clock_read();

	/* The content is told first: whoever reads the file finds an empty packet. */
	packet->content_size = sizeof(*packet) * 8;
	publish_barrier();
	packet->packet_size = stream->packet_bytes * 8;
	packet->timestamp_begin = now;
	packet->timestamp_end = now;
	stream->last_time = now;
	stream->generation++;
	stream->nested = 0;
	stream->behind = 0;
	stream->is_waiting = false;
	stream->limit = (char *) packet + stream->packet_bytes;
	stream->next = (char *) (packet + 1);
	stream->keeps = false;
}

static bool is_empty(const struct stream *stream)
{
	return stream->next == (char *) (stream->packet + 1) && !stream->keeps;
}

void stream_begin_earlier(struct stream *stream, uint64_t time)
{
	const uint64_t begin = time > stream->previous_end ? time : stream->previous_end;

	if (!stream->packet || stream->packet == &nowhere || !is_empty(stream) ||
	    begin >= stream->last_time)
		return;
	stream->packet->timestamp_begin = begin;
	stream->last_time = begin;
}

/* Append the present packet to its file, and begin the next one. */
static bool flush_packet(struct stream *stream)
{
	if (!files_append(stream))
		return false;
	/* Now the packet is in two files; it goes from here by one store. */
	stream->packet->content_size = sizeof(*stream->packet) * 8;
	stream->previous_end = stream->packet->timestamp_end;
	stream->packet->packet_seq_num++;
	start_packet(stream);
	return true;
}

/* Tell of which thread the packet is, and begin it. */
static void name_packet(struct stream *stream)
{
	struct packet *packet = stream->packet;

	packet->vpid = stream->vpid;
	packet->vtid = stream->vtid;
	memcpy(packet->procname, stream->procname, sizeof(packet->procname));
	packet->events_discarded += process_take_lost();
	start_packet(stream);
	packet_of_thread = packet;
	size_of_packet = stream->packet_bytes;
}

static void fill_header(struct stream *stream)
{
	struct packet *packet = stream->packet;

	packet->magic = PACKET_MAGIC;
	memcpy(packet->uuid, settings.uuid, sizeof(packet->uuid));
	packet->stream_id = STREAM_CLASS;
	packet->stream_instance_id = stream->instance_id;
	name_packet(stream);
}

/* Memory that a child process finds filled with zeros, above the stack of the slow path. */
static struct stream *new_stream(void)
{
	char *place = system_mmap(NULL, SCRATCH_SIZE + stream_size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	if (!place)
		return NULL;
	if (!system_madvise(place + SCRATCH_SIZE, page_size, MADV_WIPEONFORK)) {
		system_munmap(place, SCRATCH_SIZE + stream_size);
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
	return stream && stream->vpid && stream->packet && stream->packet != &nowhere &&
		!stream->is_left;
}

/* Take over the stream of a thread that has ended. */
static struct stream *take_ended(void)
{
	for (size_t index = 0; ended && index < MOST_ENDED; index++) {
		if (atomic_load_explicit(&ended[index], memory_order_relaxed)) {
			struct stream *found = atomic_exchange(&ended[index], NULL);

			if (found)
				return found;
		}
	}
	return NULL;
}

/* Leave a stream to another thread; false when enough wait for one. */
static bool leave(struct stream *stream)
{
	stream->is_left = true;
	for (size_t index = 0; ended && index < MOST_ENDED; index++) {
		struct stream *none = NULL;

		if (!atomic_load_explicit(&ended[index], memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&ended[index], &none, stream))
			return true;
	}
	return false;
}

/* Make the first packet of a stream. */
static bool make_packet(struct stream *stream)
{
	stream->packet = NULL;
	stream->name_pid = stream->vpid;
	stream->name_tid = stream->vtid;
	stream->instance_id = (uint64_t) stream->vpid << 42 |
		(uint64_t) process_pid_space() << 32 | (uint64_t) stream->vtid << 10;
	if (!files_open(stream))
		return false;
	fill_header(stream);
	return files_show(stream);
}

/* Give the thread a stream: its first, or its first in a child process. */
static struct stream *open_stream(struct stream *stream)
{
	stream->vpid = system_getpid();
	stream->vtid = system_gettid();
	stream->is_doubtful = false;
	system_thread_name(stream->procname);
	dropping = 0;
	if (stream->is_left)
		name_packet(stream);
	else if (!make_packet(stream))
		dropping = DROPPED_AFTER_FAILURE;
	if (dropping)
		return NULL;
	stream->is_left = false;
	stream->rounds = 0;
	if (has_key)
		pthread_setspecific(key, stream);
	return stream;
}

/* Leave memory in place of a packet, where an interrupted record may still be written. */
static void retire(struct packet *packet, size_t size)
{
	system_mmap(packet, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1);
}

/* Move an empty packet to other memory, larger as long as it is not the largest.
 *
 * An interrupted record that was given up would otherwise be written into the next packet,
 * if the program goes back to it. */
static bool move_packet(struct stream *stream)
{
	struct packet *const old = stream->packet;
	const size_t before = stream->packet_bytes;

	if (stream->is_doubtful && stream->retired >= MOST_RETIRED / settings.packet_size)
		return true;
	if (!files_move(stream, true) && !(stream->is_doubtful && files_move(stream, false)))
		return false;
	start_packet(stream);
	packet_of_thread = stream->packet;
	size_of_packet = stream->packet_bytes;
	compiler_barrier();
	if (stream->is_doubtful) {
		retire(old, before);
		stream->retired++;
		stream->is_doubtful = false;
	} else {
		system_munmap(old, before);
	}
	return true;
}

static struct stream *next_packet(struct stream *stream, size_t size)
{
	if (!is_empty(stream)) {
		/* A handler that interrupts a record is told rather than that record. */
		pending_end(stream);
		if (!flush_packet(stream)) {
			dropping = DROPPED_AFTER_FAILURE;
			return NULL;
		}
	}
	if (UNLIKELY(stream->is_doubtful || stream->packet_bytes < settings.packet_size) &&
	    !move_packet(stream) && stream->is_doubtful) {
		stream->limit = stream->next;
		dropping = DROPPED_AFTER_FAILURE;
		return NULL;
	}
	/* A long text need not wait until packets have grown. */
	while (UNLIKELY(stream->limit - stream->next < (ptrdiff_t) size))
		if (stream->packet_bytes >= settings.packet_size || !move_packet(stream))
			return NULL;
	return stream;
}

struct room {
	struct stream *stream;
	size_t size;
	struct stream *found;
};

/* What is done on a stack of our own. */
static void make_room(void *argument)
{
	struct room *room = argument;

	if (is_open(room->stream)) {
		room->found = next_packet(room->stream, room->size);
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
	struct room room = {NULL, size, NULL};
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
		stream = take_ended();
	if (!stream)
		stream = new_stream();
	stream_of_thread = stream;
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

bool stream_keep(struct stream *stream, size_t size)
{
	if (!is_open(stream))
		return true;
	if (!stream->keeps && !is_empty(stream) && !pending_is_any(stream) &&
	    !stream_make_room(stream, size))
		return false;
	stream->keeps = true;
	stream->limit = (char *) stream->packet + stream->packet_bytes;
	return true;
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

/* The thread's last packet goes to the file, too; the stream is for another thread, if not
 * enough wait for one. */
static void close_packet(void *argument)
{
	struct room *room = argument;
	struct stream *stream = room->stream;

	pending_end(stream);
	if ((!is_empty(stream) || stream->packet->events_discarded) && !flush_packet(stream))
		return;
	room->found = stream;
}

static void remove_files(void *argument)
{
	files_close(argument);
}

/* The end of a thread. */
static void close_stream(void *value)
{
	struct stream *stream = value;
	struct room room = {stream, 0, NULL};
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
	scratch_call((char *) stream, close_packet, &room);
	stream_of_thread = NULL;
	packet_of_thread = NULL;
	perf_counter_close();
	if (!room.found || !leave(stream)) {
		if (room.found)
			scratch_call((char *) stream, remove_files, stream);
		system_munmap(stream->packet, stream->packet_bytes);
		system_munmap((char *) stream - SCRATCH_SIZE, SCRATCH_SIZE + stream_size);
	}
	is_busy = false;
	system_restore_signals(before);
	errno = saved;
}

/* For helpers: what the C library frees when all destructors have run is no loss. */
__attribute__((visibility("default"))) int vestige_thread_has_ended(void)
{
	return is_closed;
}

void stream_leave(void)
{
	/* Its packet stays where it is; the recorder finds it. */
	is_closed = true;
	stream_of_thread = NULL;
}

void stream_after_fork(void)
{
	struct stream *stream = stream_of_thread;
	struct packet *packet = packet_of_thread;

	if (!is_new_process(stream) || !packet)
		return;
	/* A handler that interrupted a hook may have forked. In the child, the hook goes on:
	 * it finds memory in the parent's place, and afterwards no room. */
	retire(packet, size_of_packet);
	stream->packet = &nowhere;
	stream->limit = (char *) packet + size_of_packet;
	stream->next = stream->limit;
}

void streams_start(void)
{
	const size_t size = MOST_ENDED * sizeof(*ended);

	page_size = (size_t) sysconf(_SC_PAGESIZE);
	stream_size = page_size + files_start(page_size);
	has_key = pthread_key_create(&key, close_stream) == 0;
	ended = system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (ended && !system_madvise(ended, size, MADV_WIPEONFORK)) {
		system_munmap(ended, size);
		ended = NULL;
	}
}
