/* What the tracer knows of the process that it is in. */
#ifndef VESTIGE_BASE_PROCESS_H
#define VESTIGE_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/* Make the memory for it; false where there is none. Before that, nothing is known. */
bool process_begin(void) HIDDEN;
/* Whether that has been done, here or in the process that made this one by fork(). */
bool process_is_begun(void) HIDDEN;
/* True once in each process and recording: the caller has to record what is loaded. */
bool process_must_dump(uint32_t channel) HIDDEN;
/* Whether this process is recorded: it may be a child that is not to be followed. */
bool process_is_followed(void) HIDDEN;
/* Its ID, as it was when recording began in it: a child of vfork(), which has our memory, is no
 * process of its own here. */
uint32_t process_id(void) HIDDEN;
/* The inode of its PID namespace, see namespaces(7); 0 if /proc is not mounted. It is asked for
 * once, since the program may leave /proc. */
uint64_t process_pid_namespace(void) HIDDEN;
/* When the recording of a channel began in it. */
uint64_t process_start_time(uint32_t channel) HIDDEN;
/* The name of this thread, with 17 bytes of zeros in its place; that of the program if that
 * filters its system calls. */
void process_thread_name(char *name) HIDDEN;
/* A number above the ID of the process, in its upper half: another one after each change of
 * credentials or namespaces, and in each process. */
uint64_t process_key(void) HIDDEN;
void process_change_key(void) HIDDEN;
/* The process records again for a channel: it has to record what is loaded, and began now. */
void process_begin_again(uint32_t channel) HIDDEN;
/* Between these, no other recording begins in a channel. False if it records nothing: then there is
 * nothing to leave. Signals must be blocked, since a handler may jump away. */
bool process_enter_recording(uint32_t channel) HIDDEN;
void process_leave_recording(uint32_t channel) HIDDEN;
/* After settings_stop_channel(): wait until nobody is between those two; false if somebody stays there,
 * as where a program that filters its system calls has jumped away. */
bool process_wait_for_recording(uint32_t channel) HIDDEN;
/* Protect what is known of the objects in memory, and of tracepoints. In a child process,
 * both are free: who had them is not there. */
void process_lock_objects(void) HIDDEN;
void process_unlock_objects(void) HIDDEN;
void process_lock_tracepoints(void) HIDDEN;
void process_unlock_tracepoints(void) HIDDEN;

#endif
