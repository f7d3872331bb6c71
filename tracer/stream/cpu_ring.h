/* The rings of CPUs: where they are, and how they get chunks. */
#ifndef VESTIGE_STREAM_CPU_RING_H
#define VESTIGE_STREAM_CPU_RING_H

#include "state.h"

enum cpu_room {
	CPU_ROOM_MADE,
	/* When the collector has drained something. */
	CPU_ROOM_LATER,
	/* The CPU has no ring, or the thread was interrupted again and again. */
	CPU_ROOM_NONE,
};

/* Whether threads are told to leave them before a child has their memory, see vforks.c. */
extern bool cpu_rings_are_possible HIDDEN;
/* Whether CPUs have rings in the arena of a channel. */
bool cpu_rings_are_there(uint32_t channel) HIDDEN;
/* Before and after a child of vfork() has the memory of this thread: it cannot write to them, as the
 * kernel does not know it by the area that it finds there. */
void cpu_rings_leave(void) HIDDEN;
void cpu_rings_return(void) HIDDEN;
/* Whether that is so now: of the thread that waits, and of the child. */
bool cpu_rings_are_left(void) HIDDEN;
/* Let the stream of a channel know of them, if the thread can write to them. */
void cpu_rings_find(uint32_t channel, struct stream *stream) HIDDEN;
/* Whether the CPU on which the thread is now has one. */
bool cpu_ring_is_here(const struct stream *stream) HIDDEN;
/* Whether the thread gave up waiting for that one, and nothing has changed since. */
bool cpu_ring_is_vain(const struct stream *stream) HIDDEN;
/* See to it that it has room for a record, now. Signals are blocked. */
enum cpu_room cpu_ring_make_room(struct stream *stream, size_t size) HIDDEN;

#endif
