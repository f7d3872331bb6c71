/*
 * exec() of the C library: the program gets an environment that fits, and is named if it cannot
 * be recorded. See starting.c. The same holds for execve(2) and execveat(2) by their numbers, see
 * confined.c.
 */
#define _GNU_SOURCE
#include "execute.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/compiler.h"
#include "../base/system.h"
#include "starting.h"

typedef int execute_function(const char *file, char *const arguments[],
			     char *const environment[]);

typedef int execute_at_function(int directory, const char *file, char *const arguments[],
				char *const environment[], int flags);

/* glibc has it since 2.34. */
EXPORTED execute_at_function execveat;

static execute_function *original_execve;
static execute_function *original_execvpe;
static execute_at_function *original_execveat;
static __typeof__(fexecve) *original_fexecve;

/* A call of one of them. */
struct execution {
	struct start start;
	execute_function *original;
	char *const *arguments;
	/* Of execveat(2). */
	int flags;
};

/* Early: a child of vfork() may be the first to ask. */
static __attribute__((constructor(101))) void find(void)
{
	if (!original_execve)
		*(void **) &original_execve = dlsym(RTLD_NEXT, "execve");
	if (!original_execvpe)
		*(void **) &original_execvpe = dlsym(RTLD_NEXT, "execvpe");
	if (!original_execveat)
		*(void **) &original_execveat = dlsym(RTLD_NEXT, "execveat");
	if (!original_fexecve)
		*(void **) &original_fexecve = dlsym(RTLD_NEXT, "fexecve");
}

static bool begin(struct start *start, char *const environment[])
{
	const struct execution *call = (const struct execution *) start;

	call->original(start->file, call->arguments, environment);
	return false;
}

static bool begin_at(struct start *start, char *const environment[])
{
	const struct execution *call = (const struct execution *) start;

	original_execveat(start->directory, start->file ? start->file : "", call->arguments,
			  environment, call->flags);
	return false;
}

/* Where the C library has no function for it. */
static bool begin_at_by_number(struct start *start, char *const environment[])
{
	const struct execution *call = (const struct execution *) start;
	const long result = system_call_always(
		SYS_execveat, start->directory, (long) (start->file ? start->file : ""),
		(long) call->arguments, (long) environment, call->flags, 0);

	errno = (int) -result;
	return false;
}

static bool begin_file(struct start *start, char *const environment[])
{
	const struct execution *call = (const struct execution *) start;

	original_fexecve(start->directory, call->arguments, environment);
	return false;
}

static int execute(execute_function *const *original, const char *file, char *const arguments[],
		   char *const environment[])
{
	struct execution call = {
		.start =
			{
				.directory = AT_FDCWD,
				.file = file,
				.is_searched = original == &original_execvpe,
				.is_executed = true,
				.environment = environment,
				.begin = begin,
			},
		.arguments = arguments,
	};

	find();
	call.original = *original;
	if (!call.original || !file) {
		errno = call.original ? EFAULT : ENOSYS;
		return -1;
	}
	starting_do(&call.start);
	return -1;
}

EXPORTED int execve(const char *file, char *const arguments[], char *const environment[])
{
	return execute(&original_execve, file, arguments, environment);
}

EXPORTED int execv(const char *file, char *const arguments[])
{
	return execute(&original_execve, file, arguments, environ);
}

EXPORTED int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	return execute(&original_execvpe, file, arguments, environment);
}

EXPORTED int execvp(const char *file, char *const arguments[])
{
	return execute(&original_execvpe, file, arguments, environ);
}

static int execute_at(int directory, const char *file, char *const arguments[],
		      char *const environment[], int flags)
{
	const bool is_of_descriptor = !*file && (flags & AT_EMPTY_PATH);
	struct execution call = {
		.start =
			{
				.directory = directory,
				.file = is_of_descriptor ? NULL : file,
				.is_executed = true,
				.environment = environment,
				.begin = original_execveat ? begin_at : begin_at_by_number,
			},
		.arguments = arguments,
		.flags = flags,
	};

	starting_do(&call.start);
	return -1;
}

int execveat(int directory, const char *file, char *const arguments[], char *const environment[],
	     int flags)
{
	find();
	if (!original_execveat) {
		errno = ENOSYS;
		return -1;
	}
	return execute_at(directory, file, arguments, environment, flags);
}

long execute_by_number(long number, long first, long second, long third, long fourth, long fifth)
{
	if (number == SYS_execve)
		return execute(&original_execve, (const char *) first, (char *const *) second,
			       (char *const *) third);
	find();
	if (!second) {
		errno = EFAULT;
		return -1;
	}
	return execute_at((int) first, (const char *) second, (char *const *) third,
			  (char *const *) fourth, (int) fifth);
}

EXPORTED int fexecve(int file, char *const arguments[], char *const environment[])
{
	struct execution call = {
		.start =
			{
				.directory = file,
				.is_executed = true,
				.environment = environment,
				.begin = begin_file,
			},
		.arguments = arguments,
	};

	find();
	if (!original_fexecve) {
		errno = ENOSYS;
		return -1;
	}
	starting_do(&call.start);
	return -1;
}

/* How many arguments come after the first; of execle(), the environment comes after the NULL. */
static size_t count_rest(va_list rest)
{
	size_t count = 0;

	while (va_arg(rest, char *))
		count++;
	return count;
}

#define GATHER(first)                                        \
	va_list rest;                                        \
	va_list again;                                       \
	size_t more;                                         \
	char **arguments;                                    \
                                                             \
	va_start(rest, first);                               \
	va_copy(again, rest);                                \
	more = count_rest(again);                            \
	va_end(again);                                       \
	arguments = alloca((more + 2) * sizeof(*arguments)); \
	arguments[0] = (char *) (first);                     \
	for (size_t index = 1; index <= more + 1; index++)   \
	arguments[index] = va_arg(rest, char *)

EXPORTED int execl(const char *file, const char *first, ...)
{
	GATHER(first);
	va_end(rest);
	return execute(&original_execve, file, arguments, environ);
}

EXPORTED int execlp(const char *file, const char *first, ...)
{
	GATHER(first);
	va_end(rest);
	return execute(&original_execvpe, file, arguments, environ);
}

EXPORTED int execle(const char *file, const char *first, ...)
{
	char *const *environment;

	GATHER(first);
	environment = va_arg(rest, char *const *);
	va_end(rest);
	return execute(&original_execve, file, arguments, environment);
}
