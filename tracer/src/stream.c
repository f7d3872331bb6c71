/* The slow path of data streams: making them, and what to do when a packet is full. */
#define _GNU_SOURCE
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"

/* Streams of threads that had the same ID in one recording. */
#define MOST_NAMESAKES 1000

/* Records dropped without a system call after a file could not be made or written: a full
 * disk must not slow the program down. */
#define DROPPED_AFTER_FAILURE 1023

#define NAME_SIZE (PATH_MAX + 64)

__thread struct stream *stream_of_thread;
/* Whether the thread is in here: what is instrumented and called from here is not traced. */
static __thread bool is_busy __attribute__((tls_model("initial-exec")));
/* How many of those are still to come. */
static __thread unsigned int dropping __attribute__((tls_model("initial-exec")));
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
	stream->limit = (char *) packet + settings.packet_size;
	stream->next = (char *) (packet + 1);
}

/* Whether a file may grow to a size; the kernel would end the program by a signal. */
static bool may_grow(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
		size <= limit.rlim_cur;
}

static bool append(int file, const char *bytes, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t written = pwrite(file, bytes, size, (off_t) offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
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
	if (!append(file, (const char *) &origin, sizeof(origin), 0))
		return false;
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
	file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0)
		return false;
	packet->packet_size = size * 8;
	is_written = stream->file_size || !packet->events_discarded || append_origin(file, stream);
	is_written = is_written &&
		append(file, (const char *) packet, size, stream->file_size);
	close(file);
	if (is_written)
		stream->file_size += size;
	return is_written;
}

static bool map_packet(struct stream *stream)
{
	char name[NAME_SIZE];
	void *place;
	int file;

	if (!may_grow(settings.packet_size))
		return false;
	for (;; stream->instance_id++) {
		if ((stream->instance_id & 0x3ff) >= MOST_NAMESAKES)
			return false;
		file_name(stream, true, name);
		file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (file >= 0) {
			char final[NAME_SIZE];

			file_name(stream, false, final);
			if (access(final, F_OK) != 0)
				break;
			close(file);
			unlink(name);
		} else if (errno != EEXIST) {
			return false;
		}
	}
	/* Blocks first: a store to a mapped hole on a full disk would be a signal. */
	if (fallocate(file, 0, 0, (off_t) settings.packet_size) != 0 &&
	    (errno == ENOSPC || ftruncate(file, (off_t) settings.packet_size) != 0))
		goto failed;
	place = mmap(NULL, settings.packet_size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_POPULATE, file, 0);
	if (place == MAP_FAILED)
		goto failed;
	/* A child process makes its own. */
	madvise(place, settings.packet_size, MADV_DONTFORK);
	close(file);
	stream->packet = place;
	return true;
failed:
	close(file);
	unlink(name);
	return false;
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

/* Memory that a child process finds filled with zeros. */
static struct stream *new_stream(void)
{
	const size_t size = 4096;
	struct stream *stream = mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stream == MAP_FAILED)
		return NULL;
	if (madvise(stream, size, MADV_WIPEONFORK) != 0) {
		munmap(stream, size);
		return NULL;
	}
	return stream;
}

/* Whether fork() has filled the stream with zeros. */
static bool is_new_process(const struct stream *stream)
{
	return stream && !stream->vpid;
}

/* Give the thread a stream: its first, or its first in a child process. */
static struct stream *open_stream(struct stream *stream)
{
	if (!stream)
		stream = new_stream();
	if (!stream)
		return NULL;
	stream->vpid = (uint32_t) getpid();
	stream->vtid = (uint32_t) syscall(SYS_gettid);
	stream->instance_id = (uint64_t) stream->vpid << 42 | (uint64_t) stream->vtid << 10;
	prctl(PR_GET_NAME, stream->procname, 0, 0, 0);
	dropping = map_packet(stream) ? 0 : DROPPED_AFTER_FAILURE;
	if (dropping) {
		stream_of_thread = stream;
		return NULL;
	}
	fill_header(stream);
	stream_of_thread = stream;
	if (has_key)
		pthread_setspecific(key, stream);
	return stream;
}

/* Write a record that says nothing over the place of one that never came. */
static bool fill(struct stream *stream, char *start, char *end)
{
	const size_t fixed = COMPACT_HEADER_SIZE + settings.context_size;
	const uint64_t time = stream->pending_time;
	struct record record = {.stream = stream, .start = start, .at = start, .end = end};
	size_t rest;

	if (end < start + fixed || end > stream->limit)
		return false;
	rest = (size_t) (end - start) - fixed;
	if (rest > 256)
		return false;
	write_u32(&record, compact_header(rest ? EVENT_ABANDONED_BYTES : EVENT_ABANDONED, time));
	write_contexts(&record, NULL);
	if (rest) {
		write_u8(&record, (uint8_t) (rest - 1));
		memset(record.at, 0, rest - 1);
	}
	return true;
}

void stream_check_pending(struct stream *stream, const char *stack)
{
	struct packet *packet = stream->packet;
	char *start = (char *) packet + packet->content_size / 8;

	/* A handler runs below the frame that it interrupts. One with a stack of its own may
	 * lie above: then the interrupted record is written over the filler later. */
	if (stack < stream->pending_stack)
		return;
	if (fill(stream, start, stream->pending_end))
		stream_commit_nested(stream);
}

/* Whether a record is reserved and not committed: we are in a signal handler. */
static bool is_interrupted(const struct stream *stream)
{
	return stream->packet->content_size != bits_before(stream->packet, stream->next);
}

static struct stream *next_packet(struct stream *stream, const char *stack)
{
	if (is_interrupted(stream))
		stream_check_pending(stream, stack);
	if (is_interrupted(stream))
		return NULL;
	if (!flush_packet(stream)) {
		dropping = DROPPED_AFTER_FAILURE;
		return NULL;
	}
	stream->packet->packet_seq_num++;
	start_packet(stream);
	return stream;
}

struct stream *stream_make_room(struct stream *stream, size_t size)
{
	/* Of a function that the hook calls, so a little below that of the hook. */
	const char *stack = stack_pointer() + 512;
	const int saved = errno;
	struct stream *found = NULL;
	bool is_first = !stream || !stream->packet;
	sigset_t all;
	sigset_t before;

	if (UNLIKELY(is_first && !process_is_followed()))
		settings_stop();
	if (!settings.is_recording || is_busy)
		goto lost;
	if (dropping && !is_new_process(stream)) {
		dropping--;
		goto lost;
	}
	/* A handler may leave by siglongjmp(): none runs while we are busy. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_busy = true;
	if (size + sizeof(struct packet) <= settings.packet_size)
		found = is_first ? open_stream(stream) : next_packet(stream, stack);
	is_busy = false;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (found && is_first)
		process_seen();
lost:
	if (!found)
		stream_count_lost(stream);
	errno = saved;
	return found;
}

void stream_commit_nested(struct stream *stream)
{
	struct packet *packet = stream->packet;
	char *end;

	do {
		end = *(char *volatile *) &stream->next;
		packet->timestamp_end = clock_read();
		packet->content_size = bits_before(packet, end);
		compiler_barrier();
	} while (*(char *volatile *) &stream->next != end);
}

void stream_count_lost(struct stream *stream)
{
	if (stream && stream->packet)
		stream->packet->events_discarded++;
	else
		process_count_lost();
}

/* The end of a thread: its last packet goes to the file, too. */
static void close_stream(void *value)
{
	struct stream *stream = value;
	char name[NAME_SIZE];
	sigset_t all;
	sigset_t before;

	/* After fork() it is the parent's, and empty here. */
	if (!stream->packet || stream->vpid != (uint32_t) getpid())
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_busy = true;
	if (flush_packet(stream)) {
		file_name(stream, true, name);
		unlink(name);
	}
	munmap(stream->packet, settings.packet_size);
	stream_of_thread = NULL;
	munmap(stream, 4096);
	is_busy = false;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void streams_start(void)
{
	has_key = pthread_key_create(&key, close_stream) == 0;
}
