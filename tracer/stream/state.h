/*
 * A data stream: where one thread writes its event records. It has one for each channel.
 *
 * The thread has a slot in the arena, and fills one chunk after the other: each is a packet,
 * which the collector writes to a file. Only the thread writes to its chunk, and signal
 * handlers that interrupt it. A record is complete before it comes there, and its place and
 * its commit are one word, the chunk's `committed`. There are two ways to append one:
 *
 *   section.h    by a restartable sequence, see rseq(2): what is interrupted begins again
 *   announce.h   where there is none: what is interrupted is completed by the next record
 *
 * Either leaves nothing half done, whenever a handler jumps away, a coroutine is switched, or
 * the process dies: `committed` never covers bytes that are not written.
 */
#ifndef VESTIGE_STREAM_STATE_H
#define VESTIGE_STREAM_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../arena/chunk.h"
#include "../base/compiler.h"
#include "../base/settings.h"
#include "../include/vestige/tracepoint-abi.h"

/* Each record takes the next. One that goes on to write its own down when others have taken all of
 * them meanwhile spoils one that has been used. */
#define ANNOUNCEMENTS 16u
/* Of a record's body: a longer one stays where it is. So many that an announcement has 128. */
#define ANNOUNCED_BYTES 80u

/* A record, and where it goes. */
struct announced {
	struct arena_chunk *chunk;
	uint64_t time;
	const char *body;
	/* Where it begins in the chunk. */
	uint32_t start;
	/* Its number. */
	uint32_t id;
	uint32_t class;
	uint32_t header_size;
	uint32_t body_size;
};

struct announcement {
	struct announced record;
	/* Its body, unless that is longer. */
	char bytes[ANNOUNCED_BYTES];
};

/* Where the rings of CPUs are. */
struct cpu_rings {
	/* The word `cur` of the first of them. */
	char *first;
	/* A chunk before the first chunk. */
	char *chunks;
	uint64_t chunk_bytes;
	uint32_t chunk_count;
	/* Where a chunk's room ends, in bytes from its beginning. */
	uint32_t limit;
	/* CPUs that have one; 0: records go to the ring of the thread. */
	uint32_t count;
};

/* In memory that fork() fills with zeros in the child: there, it has no chunk, and the slow
 * path finds out that the process is another one. */
struct stream {
	/* The chunk, if sections may append to it; NULL where records are announced. */
	struct arena_chunk *open;
	/* The chunk, if short records may be announced in few steps: where the clock is the counter,
	 * and no chunk is overwritten. */
	struct arena_chunk *announced;
	/* When the last record was made, or before, for the compact header. */
	uint64_t last_time;
	/* Where the chunk's room ends, in bytes from its beginning. */
	uint32_t limit;
	uint32_t vpid;
	uint32_t vtid;
	/* Whose it is, see stream_owner(). */
	uint32_t owner;
	/* Whether the chunk has what all records need to be understood: in overwrite mode, it
	 * stays. It has no room for other records: `limit` is where it ends. */
	bool keeps;
	/* Chunks that were taken and have not yet been the present one. */
	uint32_t taken_count;
	uint32_t taken[ARENA_SPARES];
	struct arena_chunk *chunk;
	/* When the packet before ended, or the last record was lost that came after it. */
	uint64_t previous_end;
	struct arena_ring ring;
	/* See cpu_ring.h; and the one in which there was no room when the thread last waited. */
	struct cpu_rings cpus;
	struct arena_ring cpu_ring;
	/* When the last record was made that went to such a ring: another channel may take that, too. */
	uint64_t cpu_time;
	/* A chunk of the pool that was taken for the ring of a CPU, or 0. Spares of the thread's own
	 * slot are not for others: the collector knows that they are the thread's. */
	uint32_t cpu_chunk;
	/* Whether the thread has told that it records. */
	bool is_told;
	/* See announce.c. */
	uint64_t announcing;
	struct announcement announcements[ANNOUNCEMENTS];
	char procname[PROCNAME_SIZE + 1];
	/* When the thread was last asked for that; 0: it was not. */
	uint64_t named;
	/* See passage.h. */
	struct vestige_passage passage;
	/* The same of probes of LTTng-UST: in how many the thread is, one in the other, and in how
	 * many when nobody waited for it any longer. */
	unsigned long nesting;
	unsigned long nesting_given_up;
};

/* Those that this thread has, by channels; NULL: none yet. */
extern __thread struct stream *streams_of_thread[CHANNELS] HIDDEN
	__attribute__((tls_model("initial-exec")));
/* The first that it got: what it has of itself, whatever the channel, is there. */
extern __thread struct stream *first_stream HIDDEN __attribute__((tls_model("initial-exec")));

/* The process, and the recording in it: an interrupted record of another one is not appended. No
 * process ID has more bits. */
#define OWNER_PROCESS_BITS 22

static inline uint32_t stream_owner(uint32_t channel, uint32_t vpid)
{
	return settings.channels[channel].recording << OWNER_PROCESS_BITS | vpid;
}

/* Whether it is of a recording that has ended; so are its slot and its chunks. */
static inline bool stream_is_stale(uint32_t channel, const struct stream *stream)
{
	return (stream->owner ^ stream_owner(channel, 0)) >> OWNER_PROCESS_BITS;
}

/* Whether a stream has a chunk, and room for so many bytes in it. */
static inline bool stream_has_room(const struct stream *stream, size_t size)
{
	const struct arena_chunk *chunk = stream->chunk;

	return chunk && chunk->committed + size <= stream->limit;
}

#endif
