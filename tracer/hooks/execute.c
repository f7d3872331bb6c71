/*
 * exec() of the C library, for programs that are started where the tracer is not.
 *
 * After chroot(2) or pivot_root(2), the dynamic linker of the next program would look for our
 * libraries at paths where nothing is, and complain on its standard error. So their names are
 * left out of its environment there, and the collector is told that nobody records it.
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
#include "tracing.h"

#define OUR_LIBRARIES "/libvestige-"
/* With more variables, or longer ones, the environment is passed on as it is. */
#define MOST_VARIABLES 16384u
#define LONGEST 2048u

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

/* Copy a list of paths without those of ours that are not there; whether one is left out. */
static bool copy_there(char *copy, const char *list)
{
	bool is_shorter = false;

	*copy = '\0';
	while (*list) {
		const size_t length = strcspn(list, ":");
		char path[LONGEST];

		memcpy(path, list, length);
		path[length] = '\0';
		if (strstr(path, OUR_LIBRARIES) && !is_there(path)) {
			is_shorter = true;
		} else {
			if (*copy)
				strcat(copy, ":");
			strcat(copy, path);
		}
		list += length + (list[length] == ':');
	}
	return is_shorter;
}

/* The value of a variable that names libraries of ours; NULL for others. */
static const char *libraries_of(const char *variable)
{
	const char *value = strchr(variable, '=');

	if ((strncmp(variable, "LD_PRELOAD=", 11) != 0 &&
	     strncmp(variable, "LD_AUDIT=", 9) != 0) ||
	    strlen(variable) >= LONGEST || !strstr(value, OUR_LIBRARIES))
		return NULL;
	return value + 1;
}

struct changed {
	char texts[2][LONGEST];
	unsigned int count;
};

/* Copy an environment without what is not there; whether anything is left out. */
static bool fit(char **copy, char *const environment[], struct changed *changed)
{
	changed->count = 0;
	for (; *environment; environment++) {
		const char *value = libraries_of(*environment);
		const size_t name = value ? (size_t) (value - *environment) : 0;
		char *text = changed->texts[changed->count & 1];

		if (value && changed->count < 2 && copy_there(text + name, value)) {
			memcpy(text, *environment, name);
			changed->count++;
			if (text[name])
				*copy++ = text;
		} else {
			*copy++ = *environment;
		}
	}
	*copy = NULL;
	return changed->count;
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
	struct changed changed;
	char **copy;

	find();
	if (!original || !file) {
		errno = original ? EFAULT : ENOSYS;
		return -1;
	}
	if (system_is_confined || !environment || count > MOST_VARIABLES)
		return original(file, arguments, environment);
	copy = alloca((count + 1) * sizeof(*copy));
	if (!fit(copy, environment, &changed))
		return errno = saved, original(file, arguments, environment);
	tell(file);
	errno = saved;
	return original(file, arguments, copy);
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
