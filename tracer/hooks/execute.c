/*
 * exec() of the C library, for programs that need another environment than ours.
 *
 * Where our libraries are not there, the collector learns that nobody records the program.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../arena/descriptor.h"
#include "../base/compiler.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "environment.h"
#include "tracing.h"

/* With more variables, the environment is passed on as it is. */
#define MOST_VARIABLES 16384u

typedef int execute_function(const char *file, char *const arguments[],
			     char *const environment[]);

static execute_function *original_execve;
static execute_function *original_execvpe;

/* Early: a child of vfork() may be the first to ask. */
static __attribute__((constructor(101))) void find(void)
{
	if (!original_execve)
		*(void **) &original_execve = dlsym(RTLD_NEXT, "execve");
	if (!original_execvpe)
		*(void **) &original_execvpe = dlsym(RTLD_NEXT, "execvpe");
}

static bool is_there(const char *path)
{
	return system_call(SYS_faccessat, AT_FDCWD, (long) path, F_OK, 0, 0, 0) == 0;
}

static size_t count_of(char *const list[])
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

static void tell(const char *file)
{
	const char *name = strrchr(file, '/');

	/* What is not there is not started either. */
	if (settings.is_recording && (!name || is_there(file)))
		descriptor_tell(tracing_place(), name ? name + 1 : file);
}

static int execute(execute_function *original, const char *file, char *const arguments[],
		   char *const environment[])
{
	const size_t count = count_of(environment);
	const int saved = errno;
	struct environment fitted;

	find();
	if (!original || !file) {
		errno = original ? EFAULT : ENOSYS;
		return -1;
	}
	if (system_is_confined || !environment || count > MOST_VARIABLES)
		return original(file, arguments, environment);
	fitted.variables = alloca((count + 1) * sizeof(*fitted.variables));
	if (environment_fit(&fitted, environment))
		environment = fitted.variables;
	if (fitted.lacks_libraries)
		tell(file);
	errno = saved;
	return original(file, arguments, environment);
}

EXPORTED int execve(const char *file, char *const arguments[], char *const environment[])
{
	return execute(original_execve, file, arguments, environment);
}

EXPORTED int execv(const char *file, char *const arguments[])
{
	return execute(original_execve, file, arguments, environ);
}

EXPORTED int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	return execute(original_execvpe, file, arguments, environment);
}

EXPORTED int execvp(const char *file, char *const arguments[])
{
	return execute(original_execvpe, file, arguments, environ);
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
	return execute(original_execve, file, arguments, environ);
}

EXPORTED int execlp(const char *file, const char *first, ...)
{
	GATHER(first);
	va_end(rest);
	return execute(original_execvpe, file, arguments, environ);
}

EXPORTED int execle(const char *file, const char *first, ...)
{
	char *const *environment;

	GATHER(first);
	environment = va_arg(rest, char *const *);
	va_end(rest);
	return execute(original_execve, file, arguments, environment);
}
