/* What all parts of the torture program use. */
#ifndef TORTURE_H
#define TORTURE_H

#define TRACED __attribute__((noinline))
#define APART __attribute__((noinline, no_instrument_function))

extern char **environ;

/* Calls of traced functions; the word behind it is for the mode. */
extern volatile long *counter;
/* The program's path, and its second argument. */
extern const char *self;
extern long number;

TRACED void leaf(void);
TRACED void deep(long depth);

APART void calls(long count);
APART void reap(void);
APART void say(const char *text, long value);
APART void child_ends(int status);
APART void *calling_thread(void *argument);
APART void in_threads(int count, void *(*function)(void *), void *argument);
/* Send a signal every so many microseconds; see setitimer(2). */
APART void every(int which, int signal, void (*handler)(int), int flags, long micros);
/* Start threads that call leaf() until the process ends. */
APART void many_forever(void);

APART void mode_abort(void);
APART void mode_altstack(void);
APART void mode_as(void);
APART void mode_bare_exit(void);
APART void mode_cancel(void);
APART void mode_cancel_anywhere(void);
APART void mode_chdir(void);
APART void mode_chroot(void);
APART void mode_clone(void);
APART void mode_clone_shared(void);
APART void mode_coroutines(void);
APART void mode_descriptors(void);
APART void mode_dlopen(void);
APART void mode_exec(void);
APART void mode_exec_from_thread(void);
APART void mode_exit_running(void);
APART void mode_exit_threads(void);
APART void mode_fork_in_handler(void);
APART void mode_forking_threads(void);
APART void mode_fsize(void);
APART void mode_jump(void);
APART void mode_keys(void);
APART void mode_kill(void);
APART void mode_late_signals(void);
APART void mode_main_exits(void);
APART void mode_nofile(void);
APART void mode_nproc(void);
APART void mode_overflow(void);
APART void mode_preempted(void);
APART void mode_quick_exit(void);
APART void mode_raw_fork(void);
APART void mode_seccomp(void);
APART void mode_setuid(void);
APART void mode_signals(void);
APART void mode_small_stacks(void);
APART void mode_spawn(void);
APART void mode_state(void);
APART void mode_storm(void);
APART void mode_strict(void);
APART void mode_trap(void);
APART void mode_umask(void);
APART void mode_vfork(void);
APART void mode_vfork_in_thread(void);

#endif
