/*
 * The environment of a program that is executed, where ours does not fit it.
 *
 * After chroot(2) or pivot_root(2), the dynamic linker of the next program would look for our
 * libraries at paths where nothing is, and complain on its standard error. So their names are
 * left out of its environment there.
 *
 * In Valgrind, what the dynamic linker allocates for auditors before Valgrind's malloc() is there,
 * and frees when it is, would be reported as an invalid free() in each program. So there is no
 * auditor there, as with a C library that knows none: other libraries take its place.
 */
#define _GNU_SOURCE
#include "environment.h"

#include <stdio.h>
#include <string.h>

#include "../base/system.h"

#define OUR_LIBRARIES "/libvestige-"
#define AUDITOR OUR_LIBRARIES "audit.so"
#define BESIDE_LTTNG OUR_LIBRARIES "lttng-beside.so"
/* Valgrind's launcher adds it for what it executes, and for nothing else. */
#define IN_VALGRIND "VALGRIND_LAUNCHER="

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static const char *find(char *const variables[], const char *name)
{
	while (*variables && !begins_with(*variables, name))
		variables++;
	return *variables;
}

static bool is_there(const char *path)
{
	return system_call(SYS_faccessat, AT_FDCWD, (long) path, F_OK, 0, 0, 0) == 0;
}

static void begin(struct library_list *list, char *const variables[], const char *name)
{
	const char *found = find(variables, name);

	list->before = found && strlen(found) < sizeof(list->text) && strstr(found, OUR_LIBRARIES)
		? found
		: NULL;
	list->name = list->size = strlen(name);
	list->is_too_long = false;
	strcpy(list->text, name);
}

/* Add a path, of so many characters and a name. It is returned; NULL when there is no room. */
static const char *add(struct library_list *list, const char *path, size_t length,
		       const char *name)
{
	char *place = list->text + list->size;
	const size_t room = sizeof(list->text) - list->size;
	const char *colon = list->size > list->name ? ":" : "";
	const int size = snprintf(place, room, "%s%.*s%s", colon, (int) length, path, name);

	if ((size_t) size >= room) {
		list->is_too_long = true;
		return NULL;
	}
	list->size += (size_t) size;
	return place + strlen(colon);
}

static void take_back(struct library_list *list, size_t size)
{
	list->size = size;
	list->text[size] = '\0';
}

/* Copy the paths of libraries; whether some of ours are not there, which are left out. */
static bool copy(struct library_list *list)
{
	const char *paths = list->before ? list->before + list->name : "";
	bool lacks_any = false;

	while (*paths) {
		const size_t length = strcspn(paths, ":");
		const size_t before = list->size;
		const char *path = add(list, paths, length, "");

		if (path && strstr(path, OUR_LIBRARIES) && !is_there(path)) {
			lacks_any = true;
			take_back(list, before);
		}
		paths += length + (paths[length] == ':');
	}
	return lacks_any;
}

/* Add a library of ours from the folder of another one, if it is there. */
static void add_ours(struct library_list *list, const char *folder, size_t length,
		     const char *name)
{
	const size_t before = list->size;
	const char *path = add(list, folder, length, name);

	if (path && !is_there(path))
		take_back(list, before);
}

/* Leave out a part of the list, with the colon after or before it. */
static void leave_out(struct library_list *list, char *start, const char *end)
{
	const char *rest = *end == ':' ? end + 1 : end;

	if (!*rest && start > list->text + list->name)
		start--;
	memmove(start, rest, strlen(rest) + 1);
	list->size = strlen(list->text);
}

/* Preload what does without our auditor what it did. */
static void do_without_auditor(struct library_list *audited, struct library_list *preloaded)
{
	char *found = strstr(audited->text, AUDITOR);
	char *folder = found;
	size_t length;

	if (!found || !preloaded->before)
		return;
	while (folder[-1] != ':' && folder[-1] != '=')
		folder--;
	length = (size_t) (found - folder);
	add_ours(preloaded, folder, length, OUR_LIBRARIES "close.so");
	if (!strstr(preloaded->text, BESIDE_LTTNG)) {
		add_ours(preloaded, folder, length, OUR_LIBRARIES "lttng-tracepoint.so");
		add_ours(preloaded, folder, length, OUR_LIBRARIES "lttng.so");
	}
	leave_out(audited, folder, found + strlen(AUDITOR));
}

static bool has_changed(const struct library_list *list)
{
	return list->before && !list->is_too_long && strcmp(list->text, list->before) != 0;
}

/* Put a variable that has changed into its place, unless nothing is left of it. */
static char **put(char **place, struct library_list *list)
{
	if (list->size > list->name)
		*place++ = list->text;
	return place;
}

bool environment_fit(struct environment *fitted, char *const variables[])
{
	char **place = fitted->variables;

	begin(&fitted->audited, variables, "LD_AUDIT=");
	begin(&fitted->preloaded, variables, "LD_PRELOAD=");
	fitted->lacks_libraries = copy(&fitted->audited);
	if (copy(&fitted->preloaded))
		fitted->lacks_libraries = true;
	if (find(variables, IN_VALGRIND))
		do_without_auditor(&fitted->audited, &fitted->preloaded);
	if (!has_changed(&fitted->audited) && !has_changed(&fitted->preloaded))
		return false;
	for (; *variables; variables++) {
		if (*variables == fitted->audited.before && has_changed(&fitted->audited))
			place = put(place, &fitted->audited);
		else if (*variables == fitted->preloaded.before &&
			 has_changed(&fitted->preloaded))
			place = put(place, &fitted->preloaded);
		else
			*place++ = *variables;
	}
	*place = NULL;
	return true;
}
