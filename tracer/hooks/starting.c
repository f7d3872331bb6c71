/*
 * Starting another program: it gets an environment that fits, and if no tracer will be loaded into
 * it, that is told by this process, which is the only one that may know. A program that lives for
 * a millisecond is seen by nobody else.
 *
 * What takes the place of this process is told of before, and taken back if it was not executed.
 */
#define _GNU_SOURCE
#include "starting.h"

#include <alloca.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../arena/descriptor.h"
#include "../arena/unreached.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "address_limit.h"
#include "environment.h"
#include "program_file.h"
#include "tracing.h"

/* With more variables, or longer ones of ours, the environment is passed on as it is: the stack
 * may have no room. */
#define MOST_VARIABLES 16384u
#define MOST_TEXT 32768u

#define NAME_SIZE 64u

/* What is known of a program that is about to start. */
struct judgement {
	bool is_unreached;
	enum unreached_reason reason;
	/* Without directories. */
	char name[NAME_SIZE];
};

static size_t count_of(char *const list[])
{
	size_t count = 0;

	while (list[count])
		count++;
	return count;
}

/* Whether the program is to be recorded, by a recorder that tells what is not. One that takes the
 * place of the first process is, also where children are not; a child of vfork() is another one. */
static bool is_followed(const struct start *start, char *const environment[])
{
	if (!settings.is_recording || !environment_is_recorded(environment))
		return false;
	return settings.follow_fork ||
		(start->is_executed && process_is_followed() && system_getpid() == process_id());
}

/* The path of an open file. */
static void find_path(int file, char path[PATH_MAX])
{
	char link[64];
	long length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	length = system_readlink(link, path, PATH_MAX - 1);
	path[length > 0 ? length : 0] = '\0';
}

/* Whether a program that begins where this process is, as who it is, gets at the arena. In doubt it
 * does: this process may have no descriptor left, which a program that is executed has. */
static bool is_memory_reached(void)
{
	const int file = descriptor_open(tracing_place(0));
	const int any = file < 0 ? system_open("/", O_PATH) : file;

	if (any >= 0)
		system_close(any);
	return file >= 0 || any < 0;
}

static void set_name(struct judgement *found, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(found->name, sizeof(found->name), "%.*s", (int) sizeof(found->name) - 1,
		 slash ? slash + 1 : path);
}

/* Apart: a path takes much of the stack, which may be small. */
static __attribute__((noinline)) void judge(const struct start *start, struct judgement *found)
{
	const char *file = start->file;
	char path[PATH_MAX];

	if (start->is_searched) {
		if (!program_file_find(file, path))
			return;
		file = path;
	}
	found->is_unreached =
		program_file_is_unreached(start->directory, file ? file : "", &found->reason);
	if (!file) {
		find_path(start->directory, path);
		file = path;
	}
	set_name(found, file);
	if (!found->is_unreached && !is_memory_reached()) {
		found->is_unreached = true;
		found->reason = UNREACHED_MEMORY;
	}
}

/* Of this process, or of another one. */
static void tell(const struct start *start, const struct judgement *found,
		 enum unreached_reason reason)
{
	/* Asked for, since a child of vfork() is another process than ours. */
	const uint32_t own = system_getpid();
	const struct unreached program = {
		.reason = reason,
		.process = start->is_executed ? own : (uint32_t) start->process,
		.parent = start->is_executed || start->process ? 0 : own,
		.pid_namespace = process_pid_namespace(),
		.name = found->name,
	};

	unreached_tell(&arenas[0], &program);
}

/* Whether there is no room to change an environment. */
static bool is_too_large(char *const variables[])
{
	return count_of(variables) > MOST_VARIABLES || environment_size(variables) > MOST_TEXT;
}

/* Start it; whoever looks for the trace of it learns what becomes of it. */
static void begin(struct start *start, struct judgement *found, char *const environment[])
{
	int saved;
	bool has_begun;

	if (found->is_unreached && start->is_executed) {
		tell(start, found, found->reason);
		address_limit_give_back();
	} else if (!found->is_unreached) {
		address_limit_lend();
	}
	has_begun = start->begin(start, environment);
	saved = errno;
	address_limit_take_again();
	if (found->is_unreached && start->is_executed)
		tell(start, found, UNREACHED_WITHDRAWN);
	else if (found->is_unreached && has_begun)
		tell(start, found, found->reason);
	errno = saved;
}

static void begin_fitted(struct start *start, struct judgement *found, char *const variables[])
{
	struct environment fitted = {
		.is_recorded = is_followed(start, variables),
		.takes_libraries = !found->is_unreached ||
			(found->reason != UNREACHED_MACHINE &&
			 found->reason != UNREACHED_LIBRARY),
	};
	char *const *environment = start->environment;

	fitted.variables =
		alloca((count_of(variables) + ENVIRONMENT_MORE + 1) * sizeof(*fitted.variables));
	fitted.text = alloca(environment_size(variables));
	if (environment_fit(&fitted, variables))
		environment = fitted.variables;
	if (fitted.is_recorded && fitted.lacks_libraries &&
	    (!found->is_unreached || found->reason == UNREACHED_MEMORY)) {
		found->is_unreached = true;
		found->reason = UNREACHED_ELSEWHERE;
	}
	begin(start, found, environment);
}

void starting_do(struct start *start)
{
	static char *const none[] = {NULL};
	struct judgement found = {.is_unreached = false};
	/* clearenv(3) leaves NULL. */
	char *const *variables = start->environment ? start->environment : none;

	if (system_is_confined) {
		start->begin(start, start->environment);
		return;
	}
	/* A tool of Valgrind is a static program, and starts one that is not. */
	if (is_followed(start, variables) && !environment_is_of_valgrind(variables))
		judge(start, &found);
	if (!is_too_large(variables)) {
		begin_fitted(start, &found, variables);
		return;
	}
	if (is_followed(start, variables) && !found.is_unreached &&
	    environment_lacks_tracer(variables)) {
		found.is_unreached = true;
		found.reason = UNREACHED_ENVIRONMENT;
	}
	begin(start, &found, start->environment);
}
