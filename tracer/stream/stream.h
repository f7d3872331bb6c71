/* The slow path of data streams: chunks come and go. */
#ifndef VESTIGE_STREAM_STREAM_H
#define VESTIGE_STREAM_STREAM_H

#include "appending.h"
#include "state.h"

/* What a thread has for tracepoints whose provider may be unloaded, see passage.h. */
extern __thread struct vestige_thread stream_thread HIDDEN
	__attribute__((tls_model("initial-exec")));

/* Make room for a record in another chunk, or in the first; NULL when it is dropped. */
struct stream *stream_make_room(struct stream *stream, size_t size) HIDDEN
	__attribute__((noinline, cold));
/* Append a record that no chunk has room for, as a packet of several; false when it is lost. */
bool stream_append_parts(const struct appending *record, uint64_t earlier, bool is_kept) HIDDEN
	__attribute__((noinline, cold));
/* In overwrite mode, see to it that the next record comes into a chunk that stays. */
bool stream_keep(struct stream *stream, size_t size) HIDDEN __attribute__((noinline, cold));
/* Let nothing more come into a chunk that stays, but what is kept. */
void stream_limit(struct stream *stream) HIDDEN __attribute__((noinline, cold));
/* Before fork(), and in the child, in the only thread that it has. */
void stream_before_fork(void) HIDDEN;
void stream_after_fork(void) HIDDEN;
/* Let the thread have no stream any more: what it does is counted as lost. */
void stream_leave(void) HIDDEN;
/* The thread has another name. */
void stream_rename(const char *name) HIDDEN;
/* Before the program filters its system calls: make what new threads will need. */
void streams_confine(void) HIDDEN;
/* Make what streams need, once; false when there is no memory. The function is called when a
 * thread has got its first chunk, in each process, and may make records. */
bool streams_start(void (*first_chunk)(void)) HIDDEN;
/* Let an empty packet begin with a record of an earlier time. */
void stream_begin_earlier(struct stream *stream, uint64_t time) HIDDEN;
/* No record of the thread has come after this time. */
uint64_t stream_last_time(void) HIDDEN;
/* Count a record that found no place. */
void stream_count_lost(struct stream *stream) HIDDEN __attribute__((noinline, cold));

#endif
