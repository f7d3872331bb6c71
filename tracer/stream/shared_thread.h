/* Processes that run at once on the thread pointer of one thread. */
#ifndef VESTIGE_STREAM_SHARED_THREAD_H
#define VESTIGE_STREAM_SHARED_THREAD_H

#include <stdbool.h>

#include "../base/compiler.h"
#include "notes.h"

/* Whether the thread has no streams for the time being; otherwise it has them back. */
bool shared_thread_is_paused(void) HIDDEN;
/* What this thread has noted, also while it has no streams; NULL before it has had one. */
struct notes *shared_thread_notes(void) HIDDEN;
/* In a child of fork(), which shares nothing. */
void shared_thread_end(void) HIDDEN;

#endif
