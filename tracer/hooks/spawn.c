/*
 * posix_spawn(), system() and popen() of the C library, which execute programs without calling
 * exec() of ours. See starting.c.
 *
 * The last two have no argument for the environment: where it must be another one, `environ` is
 * that while they run. It has the same values otherwise, so that other threads find there what they
 * look for. It stays if a thread changes it meanwhile, which it must not, or is cancelled: so it
 * has memory of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/compiler.h"
#include "../base/system.h"
#include "original.h"
#include "starting.h"

EXPORTED __typeof__(posix_spawn) posix_spawn;
EXPORTED __typeof__(posix_spawnp) posix_spawnp;
EXPORTED __typeof__(system) system;
EXPORTED __typeof__(popen) popen;

static __typeof__(posix_spawn) *original_posix_spawn;
static __typeof__(posix_spawnp) *original_posix_spawnp;
static __typeof__(system) *original_system;
static __typeof__(popen) *original_popen;

/* A call of one of the first two. */
struct spawning {
	struct start start;
	__typeof__(posix_spawn) *original;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
	char *const *arguments;
	int result;
};

/* A call of one of the last two. */
struct command {
	struct start start;
	const char *text;
	/* Of popen(); NULL: of system(). */
	const char *mode;
	FILE *file;
	int result;
};

/* Early, as in confined.c. */
static __attribute__((constructor(101))) void find(void)
{
	FIND(posix_spawn);
	FIND(posix_spawnp);
	FIND(system);
	FIND(popen);
}

static bool spawn(struct start *start, char *const environment[])
{
	struct spawning *call = (struct spawning *) start;

	call->result = call->original(&start->process, start->file, call->actions,
				      call->attributes, call->arguments, environment);
	return call->result == 0;
}

static int do_spawn(struct spawning *call, pid_t *process)
{
	if (!call->original)
		return ENOSYS;
	starting_do(&call->start);
	if (process && call->result == 0)
		*process = call->start.process;
	return call->result;
}

int posix_spawn(pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const arguments[],
		char *const environment[])
{
	struct spawning call = {
		.start = {.directory = AT_FDCWD,
			  .file = file,
			  .environment = environment,
			  .begin = spawn},
		.actions = actions,
		.attributes = attributes,
		.arguments = arguments,
	};

	find();
	call.original = original_posix_spawn;
	return do_spawn(&call, process);
}

int posix_spawnp(pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const arguments[],
		 char *const environment[])
{
	struct spawning call = {
		.start = {.directory = AT_FDCWD,
			  .file = file,
			  .is_searched = true,
			  .environment = environment,
			  .begin = spawn},
		.actions = actions,
		.attributes = attributes,
		.arguments = arguments,
	};

	find();
	call.original = original_posix_spawnp;
	return do_spawn(&call, process);
}

/* A copy of an environment, and its size; NULL where there is no memory. */
static char **copy(char *const environment[], size_t *size)
{
	size_t count = 0;
	char **result;
	char *place;

	*size = 0;
	for (; environment[count]; count++)
		*size += strlen(environment[count]) + 1;
	*size += (count + 1) * sizeof(*environment);
	result =
		system_mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!result)
		return NULL;
	place = (char *) (result + count + 1);
	for (size_t index = 0; index < count; index++) {
		result[index] = place;
		place = stpcpy(place, environment[index]) + 1;
	}
	return result;
}

static void run(struct command *call)
{
	if (call->mode)
		call->file = original_popen(call->text, call->mode);
	else
		call->result = original_system(call->text);
}

static bool run_command(struct start *start, char *const environment[])
{
	struct command *call = (struct command *) start;
	char **const before = environ;
	char **fitted = NULL;
	size_t size = 0;

	if (environment != before)
		fitted = copy(environment, &size);
	if (fitted)
		environ = fitted;
	run(call);
	if (fitted && environ == fitted) {
		environ = before;
		system_munmap(fitted, size);
	}
	return call->mode ? call->file != NULL : call->result >= 0;
}

static void do_command(struct command *call)
{
	call->start.directory = AT_FDCWD;
	call->start.file = _PATH_BSHELL;
	call->start.environment = environ;
	call->start.begin = run_command;
	starting_do(&call->start);
}

int system(const char *text)
{
	struct command call = {.text = text};

	find();
	if (!original_system) {
		errno = ENOSYS;
		return -1;
	}
	/* It asks whether there is a shell. */
	if (!text)
		return original_system(NULL);
	do_command(&call);
	return call.result;
}

FILE *popen(const char *text, const char *mode)
{
	struct command call = {.text = text, .mode = mode};

	find();
	if (!original_popen) {
		errno = ENOSYS;
		return NULL;
	}
	if (!text || !mode)
		return original_popen(text, mode);
	do_command(&call);
	return call.file;
}
