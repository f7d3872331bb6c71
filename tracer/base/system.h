/*
 * System calls, made without the C library.
 *
 * The slow path runs inside any function of the program. The C library's wrappers are
 * cancellation points, set errno, and may be replaced by the program with functions that
 * take a lock which the interrupted code holds. These do none of that. They return a
 * negative error number, as the kernel does; see syscall(2) for the registers.
 *
 * A program may have a filter for its system calls, see seccomp(2), that ends it at one that
 * it does not make itself. From then on these make none, and fail with EPERM.
 */
#ifndef VESTIGE_BASE_SYSTEM_H
#define VESTIGE_BASE_SYSTEM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "compiler.h"

/* Whether the program has begun to filter its system calls. */
extern bool system_is_confined HIDDEN;
/* Whether it is only a child with the memory of this process, for as long as that has it. */
extern bool system_child_is_confined HIDDEN;
/* How many bytes system_mmap() has mapped that are still there. */
extern size_t system_mapped HIDDEN;
/* Called when the kernel refuses so many: the limit of the address space is reached. Tells whether
 * there may be room now. NULL: there is none. */
extern bool (*system_find_space)(size_t size) HIDDEN;

static inline long system_call_always(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long fourth __asm__("r10") = d;
	register long fifth __asm__("r8") = e;
	register long sixth __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth),
			   "r"(sixth)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long call __asm__("x8") = number;
	register long first __asm__("x0") = a;
	register long second __asm__("x1") = b;
	register long third __asm__("x2") = c;
	register long fourth __asm__("x3") = d;
	register long fifth __asm__("x4") = e;
	register long sixth __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(first)
			 : "r"(call), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "memory");
	return first;
#else
	const int saved = errno;
	long result = syscall(number, a, b, c, d, e, f);

	if (result == -1)
		result = -errno;
	errno = saved;
	return result;
#endif
}

static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (__builtin_expect(system_is_confined, 0))
		return -EPERM;
	return system_call_always(number, a, b, c, d, e, f);
}

static inline int system_open(const char *path, int flags)
{
	return (int) system_call(SYS_openat, AT_FDCWD, (long) path, flags | O_CLOEXEC, 0600, 0,
				 0);
}

static inline void system_close(int file)
{
	system_call(SYS_close, file, 0, 0, 0, 0, 0);
}

static inline long system_pread(int file, void *bytes, size_t size, uint64_t offset)
{
	return system_call(SYS_pread64, file, (long) bytes, (long) size, (long) offset, 0, 0);
}

/* Read so many bytes; false unless all of them are there. */
static inline bool system_pread_all(int file, void *bytes, size_t size, uint64_t offset)
{
	while (size) {
		const long got = system_pread(file, bytes, size, offset);

		if (got <= 0)
			return false;
		bytes = (char *) bytes + got;
		size -= (size_t) got;
		offset += (uint64_t) got;
	}
	return true;
}

static inline bool system_fstat(int file, struct stat *status)
{
	return system_call(SYS_fstat, file, (long) status, 0, 0, 0, 0) == 0;
}

static inline void system_sleep(const struct timespec *time)
{
	system_call(SYS_nanosleep, (long) time, 0, 0, 0, 0, 0);
}

static inline long system_readlink(const char *path, char *target, size_t size)
{
	return system_call(SYS_readlinkat, AT_FDCWD, (long) path, (long) target, (long) size, 0,
			   0);
}

/* Wait while a number is still the same, and wake one who does; see futex(2). */
static inline void system_wait(const void *number, unsigned int value)
{
	system_call(SYS_futex, (long) number, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}

static inline void system_wake(const void *number)
{
	system_call(SYS_futex, (long) number, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static inline bool system_is_error(long result)
{
	return result < 0 && result >= -4095;
}

/* An address, or what is an error. */
static inline long system_mmap_result(void *place, size_t size, int protection, int flags,
				      int file, uint64_t offset)
{
#if defined(__s390x__)
	/* There, the kernel takes one argument: where the six are. */
	const unsigned long words[] = {(unsigned long) place,      size,
				       (unsigned long) protection, (unsigned long) flags,
				       (unsigned long) file,       offset};

	return system_call(SYS_mmap, (long) words, 0, 0, 0, 0, 0);
#else
	return system_call(SYS_mmap, (long) place, (long) size, protection, flags, file,
			   (long) offset);
#endif
}

/* Map a part of a file, or memory, where address space was mapped before; NULL if the kernel
 * refuses: the caller does without. */
static inline void *system_mmap_at(void *place, size_t size, int protection, int flags, int file,
				   uint64_t offset)
{
	const long result = system_mmap_result(place, size, protection, flags, file, offset);

	return system_is_error(result) ? NULL : (void *) result;
}

/* The same with more address space, which is counted. */
void *system_mmap(void *place, size_t size, int protection, int flags, int file) HIDDEN;
void system_munmap(void *place, size_t size) HIDDEN;

static inline void *system_mremap(void *place, size_t size, size_t new_size, int flags)
{
	const long result =
		system_call(SYS_mremap, (long) place, (long) size, (long) new_size, flags, 0, 0);

	return system_is_error(result) ? NULL : (void *) result;
}

static inline void system_mprotect(void *place, size_t size, int protection)
{
	system_call(SYS_mprotect, (long) place, (long) size, protection, 0, 0, 0);
}

static inline bool system_madvise(void *place, size_t size, int advice)
{
	return system_call(SYS_madvise, (long) place, (long) size, advice, 0, 0, 0) == 0;
}

/* 0 if the program filters its system calls: process_id() knows another way. */
static inline uint32_t system_getpid(void)
{
	const long process = system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);

	return process > 0 ? (uint32_t) process : 0;
}

/* The ID of the process where a filter refuses that of the thread. */
static inline uint32_t system_gettid(void)
{
	const long thread = system_call(SYS_gettid, 0, 0, 0, 0, 0, 0);

	return thread > 0 ? (uint32_t) thread : system_getpid();
}

/* The name of the thread, of at most 16 bytes with the NUL; see PR_GET_NAME in prctl(2). It
 * stays what it is if the program filters its system calls. */
static inline void system_thread_name(char *name)
{
	system_call(SYS_prctl, PR_GET_NAME, (long) name, 0, 0, 0, 0);
}

/* The kernel's set of signals: that of the C library is larger. */
typedef uint64_t signals;

#define SIGNAL_BIT(number) ((signals) 1 << ((number) - 1))
/* Nobody blocks this one. */
#define SIGNALS_AS_THEY_ARE SIGNAL_BIT(SIGKILL)

/*
 * Block all signals, the C library's for cancellation too, but those by which a filter
 * refuses a system call (a handler answers it) and debuggers stop. Where the program filters
 * its system calls, they stay as they are.
 */
static inline signals system_block_signals(void)
{
	const signals wanted = ~(SIGNAL_BIT(SIGSYS) | SIGNAL_BIT(SIGTRAP));
	signals before = SIGNALS_AS_THEY_ARE;

	system_call(SYS_rt_sigprocmask, SIG_BLOCK, (long) &wanted, (long) &before, sizeof(before),
		    0, 0);
	return before;
}

static inline void system_restore_signals(signals before)
{
	/* Another thread may have brought a filter for all: what was done is undone still. */
	if (before != SIGNALS_AS_THEY_ARE)
		system_call_always(SYS_rt_sigprocmask, SIG_SETMASK, (long) &before, 0,
				   sizeof(before), 0, 0);
}

/* Whether a handler runs on the stack of sigaltstack(2). */
static inline bool system_is_on_signal_stack(void)
{
	stack_t stack = {.ss_flags = 0};

	return system_call(SYS_sigaltstack, 0, (long) &stack, 0, 0, 0, 0) == 0 &&
		(stack.ss_flags & SS_ONSTACK);
}

#endif
