/*
 * How much a recording may hold, over all its threads and processes.
 *
 * They share a mapped file, `.control`, that the recorder makes. It counts the bytes of all
 * files. In overwrite mode it also is a first-in first-out queue of *chunks*, files with
 * packets of one thread; whoever needs room takes the oldest chunk away.
 *
 * No lock: a process may die, or be stopped, in the middle of anything here. What each step
 * leaves is completed by the next one who comes by; at worst a chunk is counted that is gone.
 */
#ifndef VESTIGE_BUDGET_H
#define VESTIGE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_HIDDEN __attribute__((visibility("hidden")))

/* Map the file; false where it is needed for a limit and is not there. */
bool budget_start(void) BUDGET_HIDDEN;

/* Take room for bytes; in overwrite mode, old chunks go away for it. */
bool budget_take(uint64_t bytes) BUDGET_HIDDEN;
/* Take room for a packet that is being filled: the larger part is for complete ones. */
bool budget_take_for_memory(uint64_t bytes, bool is_first) BUDGET_HIDDEN;
void budget_give(uint64_t bytes) BUDGET_HIDDEN;
void budget_give_memory(uint64_t bytes) BUDGET_HIDDEN;

/* Count bytes that are never taken away; false when they are too many already. */
bool budget_keep(uint64_t bytes) BUDGET_HIDDEN;
/* They were not written after all. */
void budget_unkeep(uint64_t bytes) BUDGET_HIDDEN;

/* Put a new chunk at the end of the queue; its number is its name. */
uint64_t budget_new_chunk(void) BUDGET_HIDDEN;
/* Count bytes for a chunk, which are taken already; false when it was taken away. */
bool budget_add_to_chunk(uint64_t number, uint64_t bytes) BUDGET_HIDDEN;
/* Take them back from it; false when it was taken away, and they with it. */
bool budget_take_from_chunk(uint64_t number, uint64_t bytes) BUDGET_HIDDEN;
/* Take bytes, whatever the limit is: who calls will give them to a chunk, or back. */
void budget_retake(uint64_t bytes) BUDGET_HIDDEN;
/* Whether so many chunks are newer that this one should not grow. */
bool budget_is_old_chunk(uint64_t number) BUDGET_HIDDEN;
/* The bytes from which on a chunk is full. */
uint64_t budget_chunk_size(void) BUDGET_HIDDEN;

#endif
