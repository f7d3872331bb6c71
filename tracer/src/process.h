/* What the tracer knows of the process that it is in. */
#ifndef VESTIGE_PROCESS_H
#define VESTIGE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Begin to trace, unless that has been done. Libraries that do not need ours are initialised
 * before it, and may call hooks from their constructors. */
void process_start(void) __attribute__((visibility("hidden")));
/* Called when a thread has got a stream: the first one tells what is loaded. */
void process_seen(void) __attribute__((visibility("hidden")));
/* Whether this process is recorded: it may be a child that is not to be followed. */
bool process_is_followed(void) __attribute__((visibility("hidden")));
/* Count a record that has no stream to be counted in. */
void process_count_lost(void) __attribute__((visibility("hidden")));
/* Take over that count: the next packet of any stream tells it. */
uint64_t process_take_lost(void) __attribute__((visibility("hidden")));
/* A number above the ID of the process, in its upper half: another one after each change of
 * credentials or namespaces, and in each process. */
uint64_t process_key(void) __attribute__((visibility("hidden")));
void process_change_key(void) __attribute__((visibility("hidden")));
/* The number of its PID namespace in the recording, below 1 << 10. It is asked for once, since
 * the program may leave /proc. */
unsigned int process_pid_space(void) __attribute__((visibility("hidden")));
/* Whether this is the process of its memory, and not one that shares it after vfork(). */
bool process_is_ours(void) __attribute__((visibility("hidden")));
/* Protect what is known of the objects in memory, and of tracepoints. In a child process,
 * both are free: who had them is not there. */
void process_lock_objects(void) __attribute__((visibility("hidden")));
void process_unlock_objects(void) __attribute__((visibility("hidden")));
void process_lock_tracepoints(void) __attribute__((visibility("hidden")));
void process_unlock_tracepoints(void) __attribute__((visibility("hidden")));
/* Make what streams need, once. */
void streams_start(void) __attribute__((visibility("hidden")));

#endif
