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
/* Its ID, as it was when recording began in it: a child of vfork(), which has our memory, is no
 * process of its own here. */
uint32_t process_id(void) __attribute__((visibility("hidden")));
/* The inode of its PID namespace, see namespaces(7); 0 where nothing tells it. It is asked for
 * once, since the program may leave /proc. */
uint64_t process_pid_namespace(void) __attribute__((visibility("hidden")));
/* When recording began in it. */
uint64_t process_start_time(void) __attribute__((visibility("hidden")));
/* The name of this thread, with 17 bytes of zeros in its place; that of the program where the
 * kernel cannot be asked. */
void process_thread_name(char *name) __attribute__((visibility("hidden")));
/* A number above the ID of the process, in its upper half: another one after each change of
 * credentials or namespaces, and in each process. */
uint64_t process_key(void) __attribute__((visibility("hidden")));
void process_change_key(void) __attribute__((visibility("hidden")));
/* Protect what is known of the objects in memory, and of tracepoints. In a child process,
 * both are free: who had them is not there. */
void process_lock_objects(void) __attribute__((visibility("hidden")));
void process_unlock_objects(void) __attribute__((visibility("hidden")));
void process_lock_tracepoints(void) __attribute__((visibility("hidden")));
void process_unlock_tracepoints(void) __attribute__((visibility("hidden")));

#endif
