/*
 * Finds a daemon: root's for root, and for members of its group where it runs; else the user's.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "text.h"

#define ROOT_FOLDER "/var/run/lttng"
#define SOCKET "client-vestige-sessiond"
#define LONGEST_GROUP 256
/* Of a group with very many members. */
#define MOST_GROUP_BYTES (1u << 20)

static pthread_mutex_t group_lock = PTHREAD_MUTEX_INITIALIZER;
static char tracing_group[LONGEST_GROUP] = "tracing";

int lttng_set_tracing_group(const char *name)
{
	if (!name || !*name || strlen(name) >= LONGEST_GROUP)
		return -LTTNG_ERR_INVALID;
	pthread_mutex_lock(&group_lock);
	control_copy(tracing_group, sizeof(tracing_group), name);
	pthread_mutex_unlock(&group_lock);
	return 0;
}

/* Return the number of a group; -1 if there is none of the name. */
static gid_t group_number(const char *name)
{
	struct group entry, *found = NULL;
	gid_t number = (gid_t) -1;

	for (size_t size = 4096; size <= MOST_GROUP_BYTES; size *= 2) {
		char *const room = malloc(size);
		const int failed = room ? getgrnam_r(name, &entry, room, size, &found) : 0;

		if (room && !failed && found)
			number = found->gr_gid;
		free(room);
		if (failed != ERANGE)
			break;
	}
	return number;
}

static bool is_member(gid_t group)
{
	gid_t *groups;
	bool is_found = group == getgid();
	const int count = getgroups(0, NULL);

	if (is_found || count <= 0)
		return is_found;
	groups = calloc((size_t) count, sizeof(*groups));
	if (!groups)
		return false;
	for (int i = getgroups(count, groups); i-- > 0;)
		is_found = is_found || groups[i] == group;
	free(groups);
	return is_found;
}

/* Tell whether this user may ask root's daemon, and it seems to run. */
static bool may_ask_root(void)
{
	char name[LONGEST_GROUP];
	gid_t group;

	if (access(ROOT_FOLDER "/" SOCKET, F_OK) != 0)
		return false;
	pthread_mutex_lock(&group_lock);
	control_copy(name, sizeof(name), tracing_group);
	pthread_mutex_unlock(&group_lock);
	group = group_number(name);
	return group != (gid_t) -1 && is_member(group);
}

bool control_home(char *path, size_t size)
{
	const char *home = secure_getenv("LTTNG_HOME");

	if (!home || !*home)
		home = secure_getenv("HOME");
	return home && *home && (size_t) snprintf(path, size, "%s", home) < size;
}

bool control_socket_path(unsigned int number, char *path, size_t size)
{
	const char *const chosen = secure_getenv("VESTIGE_RUNDIR");
	char home[4096];
	int length;

	if (chosen && *chosen) {
		length = snprintf(path, size, "%s/%s", chosen, SOCKET);
	} else if (getuid() == 0 || (number == 0 && may_ask_root())) {
		length = snprintf(path, size, "%s/%s", ROOT_FOLDER, SOCKET);
	} else {
		/* Where root's is not to be asked, this is the first and the only one. */
		length = control_home(home, sizeof(home))
			? snprintf(path, size, "%s/.lttng/%s", home, SOCKET)
			: -1;
		if (length < 0 || (size_t) length >= size)
			*path = '\0';
		return number <= 1;
	}
	if (length < 0 || (size_t) length >= size)
		*path = '\0';
	return number == 0;
}
