/* Processes that run at once on the thread pointer of one thread. */
#ifndef VESTIGE_STREAM_SHARED_THREAD_H
#define VESTIGE_STREAM_SHARED_THREAD_H

#include <stdbool.h>

#include "../base/compiler.h"

struct stream;

/* Whether the thread has no stream for the time being; otherwise it has it back. */
bool shared_thread_is_paused(struct stream **stream) HIDDEN;
/* In a child of fork(), which shares nothing. */
void shared_thread_end(void) HIDDEN;

#endif
