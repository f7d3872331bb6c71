/*
 * Finds the tracer by the path that a daemon's owner has written, and loads it.
 *
 * This is part of other people's programs and libraries, of any version of Vestige: so it is told
 * where the tracer is, and knows nothing else of it.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "tracer_path.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../agreement/agreement.h"
#include "../agreement/registration.h"

#define MOST_PLACES 2

/* Asked of the environment at the start: the program may change it later. */
static char places[MOST_PLACES][PATH_MAX];
static int place_count;

static void add_place(const char *folder, const char *rest)
{
	char *place = places[place_count];

	if (snprintf(place, PATH_MAX, "%s%s/" REGISTRATION_TRACER, folder, rest) < PATH_MAX)
		place_count++;
}

bool vestige_link_choose_places(void)
{
	const char *answer = getenv(REGISTER_VARIABLE);
	const char *chosen = getenv(RUN_VARIABLE);
	const char *home = getenv("LTTNG_HOME");

	place_count = 0;
	/* With more rights than who started it, a program does as it is told by nobody. */
	if (getauxval(AT_SECURE) || (answer && !strcmp(answer, "0")) || getenv(OFF_VARIABLE))
		return false;
	if (chosen && *chosen) {
		add_place(chosen, "");
		return true;
	}
	if (!home || !*home)
		home = getenv("HOME");
	if (geteuid() && home && *home)
		add_place(home, "/" USER_RUN_FOLDER);
	add_place(SYSTEM_RUN_FOLDER, "");
	return true;
}

/* Whether nobody else can have written it: only root, and who runs this program. */
static bool is_trusted(int file)
{
	struct stat status;

	return fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
		(status.st_uid == 0 || status.st_uid == geteuid()) &&
		!(status.st_mode & (S_IWGRP | S_IWOTH));
}

/* Read the path of the tracer; false where no daemon has been. */
static bool read_path(const char *place, char path[PATH_MAX])
{
	ssize_t length = -1;
	const int file = open(place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

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

static bool load(const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const bool is_ours = file >= 0 && is_trusted(file);

	if (file >= 0)
		close(file);
	return is_ours && dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
}

bool vestige_link_load_tracer(void)
{
	char path[PATH_MAX];

	for (int index = 0; index < place_count; index++)
		if (read_path(places[index], path) && load(path))
			return true;
	return false;
}
