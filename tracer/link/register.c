/*
 * What programs with our headers get that link lttng-ust: where a session daemon has been, it loads the
 * tracer, which registers the program.
 *
 * Elsewhere it costs the opening of a file or two that are not there. It is part of other people's
 * programs and libraries, of any version of Vestige: so it is told the tracer's path by the daemon's
 * owner, and knows nothing else.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../agreement/agreement.h"

/* Whether nobody else can have written it: only root, and who runs this program. */
static bool is_trusted(int file)
{
	struct stat status;

	return fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
		(status.st_uid == 0 || status.st_uid == geteuid()) &&
		!(status.st_mode & (S_IWGRP | S_IWOTH));
}

/* Read the path of the tracer; false where no daemon has been. */
static bool read_path(const char *folder, const char *rest, char path[PATH_MAX])
{
	ssize_t length = -1;
	int file;

	if (!folder || !*folder ||
	    snprintf(path, PATH_MAX, "%s%s/" REGISTRATION_TRACER, folder, rest) >= PATH_MAX)
		return false;
	file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return false;
	if (is_trusted(file))
		length = read(file, path, PATH_MAX - 1);
	close(file);
	if (length <= 0)
		return false;
	path[length] = '\0';
	return path[0] == '/';
}

static bool find_tracer(char path[PATH_MAX])
{
	const char *home = getenv("LTTNG_HOME");

	if (getenv(RUN_VARIABLE))
		return read_path(getenv(RUN_VARIABLE), "", path);
	if (!home || !*home)
		home = getenv("HOME");
	return (geteuid() && read_path(home, "/" USER_RUN_FOLDER, path)) ||
		read_path(SYSTEM_RUN_FOLDER, "", path);
}

static void load(const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const bool is_ours = file >= 0 && is_trusted(file);

	if (file >= 0)
		close(file);
	if (is_ours)
		dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
}

/* Before tracepoints look for the tracer. */
static __attribute__((constructor(140), no_instrument_function)) void vestige_register(void)
{
	const char *answer = getenv(REGISTER_VARIABLE);
	const int saved = errno;
	char path[PATH_MAX];

	/* With more rights than who started it, a program does as it is told by nobody. */
	if (!getauxval(AT_SECURE) && !(answer && !strcmp(answer, "0")) && !getenv(OFF_VARIABLE) &&
	    !dlsym(RTLD_DEFAULT, "vestige_tracer") && find_tracer(path))
		load(path);
	errno = saved;
}
