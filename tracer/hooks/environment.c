/*
 * The environment of a program that is started, where ours does not fit it or is not in it.
 *
 * A program may clear the environment, or have an LD_PRELOAD of its own, when it starts another
 * one. What the recorder has put there is kept from the beginning, and added again.
 *
 * After chroot(2) or pivot_root(2), the dynamic linker of the next program would look for our
 * libraries at paths where nothing is, and complain on its standard error. So their names are
 * left out of its environment there, as for a program that cannot load them at all.
 *
 * In Valgrind, what the dynamic linker allocates for auditors before Valgrind's malloc() is there,
 * and frees when it is, would be reported as an invalid free() in each program. So there is no
 * auditor there, as with a C library that knows none: other libraries take its place.
 */
#define _GNU_SOURCE
#include "environment.h"

#include <stdio.h>
#include <string.h>

#include "../agreement/agreement.h"
#include "../base/system.h"

#define OUR_LIBRARIES "/libvestige-"
#define AUDITOR OUR_LIBRARIES "audit.so"
#define BESIDE_LTTNG OUR_LIBRARIES "lttng-beside.so"
/* Valgrind's launcher adds it for what it executes, and for nothing else. */
#define IN_VALGRIND "VALGRIND_LAUNCHER="
/* Environments with a longer one of ours are not added to: function patterns may be long. */
#define MOST_KEPT 16384u
/* Names of libraries that take an auditor's place, with colons. */
#define MORE_NAMES 128u
#define LISTS ENVIRONMENT_MORE

/* Variables with lists, of which a part is ours. */
enum list_number { AUDITED, PRELOADED, PYTHON, TUNABLES, SANITIZER, TRACER };

struct list_kind {
	const char *name;
	/* What each entry of ours holds; NULL: the whole variable is ours. */
	const char *mark;
	/* Whether ours come before the others, as where the recorder puts them. */
	bool is_first;
	bool has_libraries;
};

static const struct list_kind kinds[LISTS] = {
	[AUDITED] = {"LD_AUDIT=", OUR_LIBRARIES, true, true},
	[PRELOADED] = {"LD_PRELOAD=", OUR_LIBRARIES, true, true},
	[PYTHON] = {"PYTHONPATH=", "/instrument/startup", true, false},
	[TUNABLES] = {"GLIBC_TUNABLES=", "glibc.rtld.optional_static_tls=", false, false},
	[SANITIZER] = {"ASAN_OPTIONS=", "verify_asan_link_order=", false, false},
	[TRACER] = {SETTINGS_VARIABLE "=", NULL, true, false},
};

/* Our part of each, without its name; NULL where there is none. */
static const char *kept[LISTS];

/* A variable with a list, and what takes its place. */
struct list {
	const struct list_kind *kind;
	/* NULL: it is not there. */
	const char *before;
	char *text;
	size_t size;
	size_t room;
	/* How much of the text is the name. */
	size_t name;
	/* Whether the variable stays as it is. */
	bool is_same;
};

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

/* Whether an entry of a list is ours. */
static bool is_ours(const struct list_kind *kind, const char *entry, size_t length)
{
	return !kind->mark || memmem(entry, length, kind->mark, strlen(kind->mark));
}

/* The length of the first entry. The text of the recorder has colons of its own. */
static size_t entry_length(const struct list_kind *kind, const char *entries)
{
	return kind->mark ? strcspn(entries, ":") : strlen(entries);
}

/* Add an entry, of so many characters and a name; returned with a zero after it, NULL when there
 * is no room. */
static const char *add(struct list *list, const char *entry, size_t length, const char *name)
{
	const char *colon = list->size > list->name ? ":" : "";
	const size_t room = list->room - list->size;
	char *place = list->text + list->size;
	const int size = snprintf(place, room, "%s%.*s%s", colon, (int) length, entry, name);

	if (size < 0 || (size_t) size >= room) {
		*place = '\0';
		return NULL;
	}
	list->size += (size_t) size;
	return place + strlen(colon);
}

static void take_back(struct list *list, size_t size)
{
	list->size = size;
	list->text[size] = '\0';
}

/* Add entries; of those that are ours, none if they are unwanted, and no libraries that are not
 * there: then true is returned. */
static bool add_entries(struct list *list, const char *entries, bool without_ours)
{
	bool lacks_any = false;

	while (*entries) {
		const size_t length = entry_length(list->kind, entries);
		const bool is_library =
			list->kind->has_libraries && is_ours(list->kind, entries, length);
		const size_t before = list->size;

		if (!(is_library && without_ours)) {
			const char *path = add(list, entries, length, "");

			if (path && is_library && !is_there(path)) {
				lacks_any = true;
				take_back(list, before);
			}
		}
		entries += length + (entries[length] == ':');
	}
	return lacks_any;
}

/* Whether some of a list is ours. */
static bool has_ours(const struct list_kind *kind, const char *entries)
{
	return kind->mark ? strstr(entries, kind->mark) != NULL : true;
}

/* Make what takes a list's place; whether libraries of ours are not there. */
static bool make_list(struct list *list, const char *ours, const struct environment *fitted)
{
	const struct list_kind *kind = list->kind;
	const char *theirs = list->before ? list->before + strlen(kind->name) : "";
	const bool has_any = list->before && has_ours(kind, theirs);
	bool lacks_any = false;

	list->name = list->size = strlen(kind->name);
	strcpy(list->text, kind->name);
	if (has_any || !fitted->takes_libraries)
		ours = NULL;
	/* As it was, to the letter: an entry may be empty on purpose. */
	list->is_same = !ours && !(kind->has_libraries && has_any);
	if (list->is_same)
		return false;
	if (ours && kind->is_first)
		lacks_any = add_entries(list, ours, false);
	if (has_any)
		lacks_any |= add_entries(list, theirs, !fitted->takes_libraries);
	else if (*theirs)
		add(list, theirs, strlen(theirs), "");
	if (ours && !kind->is_first)
		add_entries(list, ours, false);
	return lacks_any;
}

/* Add a library of ours from the folder of another one, if it is there. */
static void add_ours(struct list *list, const char *folder, size_t length, const char *name)
{
	const size_t before = list->size;
	const char *path = add(list, folder, length, name);

	if (path && !is_there(path))
		take_back(list, before);
}

/* Leave out a part of the list, with the colon after or before it. */
static void leave_out(struct list *list, char *start, const char *end)
{
	const char *rest = *end == ':' ? end + 1 : end;

	if (!*rest && start > list->text + list->name)
		start--;
	memmove(start, rest, strlen(rest) + 1);
	list->size = strlen(list->text);
}

/* Preload what does without our auditor what it did. */
static void do_without_auditor(struct list *audited, struct list *preloaded)
{
	char *found = strstr(audited->text, AUDITOR);
	char *folder = found;
	size_t length;

	if (!found || preloaded->size == preloaded->name)
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

static bool is_present(const struct list *list)
{
	return list->size > list->name;
}

/* Whether a list has another text than the variable. */
static bool has_changed(const struct list *list)
{
	if (list->is_same)
		return false;
	return list->before ? strcmp(list->text, list->before) != 0 : is_present(list);
}

/* Put all variables in their places; whether any is another one. */
static bool assemble(struct list lists[LISTS], char **place, char *const variables[])
{
	bool is_other = false;

	for (; *variables; variables++) {
		const struct list *list = NULL;

		for (size_t number = 0; number < LISTS; number++)
			if (lists[number].before == *variables && has_changed(&lists[number]))
				list = &lists[number];
		is_other |= list != NULL;
		if (!list)
			*place++ = *variables;
		else if (is_present(list))
			*place++ = list->text;
	}
	for (size_t number = 0; number < LISTS; number++)
		if (!lists[number].before && has_changed(&lists[number])) {
			*place++ = lists[number].text;
			is_other = true;
		}
	*place = NULL;
	return is_other;
}

/* Most bytes of the text that takes a variable's place. */
static size_t list_size(enum list_number number, const char *before)
{
	const char *name = kinds[number].name;

	return strlen(name) + (before ? strlen(before) : 0) +
		(kept[number] ? strlen(kept[number]) : 0) + sizeof(":");
}

/* Libraries that take the place of the auditor are in the same folder. */
static size_t most_more(char *const variables[])
{
	const char *audited = find(variables, kinds[AUDITED].name);

	return MORE_NAMES + 3 * list_size(AUDITED, audited);
}

size_t environment_size(char *const variables[])
{
	size_t size = most_more(variables);

	for (size_t number = 0; number < LISTS; number++)
		size += list_size((enum list_number) number, find(variables, kinds[number].name));
	return size;
}

bool environment_fit(struct environment *fitted, char *const variables[])
{
	struct list lists[LISTS];
	char *text = fitted->text;
	bool is_recorded = fitted->is_recorded;

	fitted->lacks_libraries = false;
	for (size_t number = 0; number < LISTS; number++) {
		struct list *list = &lists[number];

		list->kind = &kinds[number];
		list->before = find(variables, list->kind->name);
		list->text = text;
		list->room = list_size((enum list_number) number, list->before);
		if (number == PRELOADED)
			list->room += most_more(variables);
		text += list->room;
		if (make_list(list, is_recorded ? kept[number] : NULL, fitted))
			fitted->lacks_libraries = true;
		/* Without libraries, what follows would only be seen by the program. */
		if (number == PRELOADED && !list->is_same)
			is_recorded &= has_ours(list->kind, list->text);
	}
	if (find(variables, IN_VALGRIND))
		do_without_auditor(&lists[AUDITED], &lists[PRELOADED]);
	return assemble(lists, fitted->variables, variables);
}

bool environment_is_kept(void)
{
	return kept[PRELOADED] != NULL;
}

bool environment_is_recorded(char *const variables[])
{
	return environment_is_kept() && !find(variables, OFF_VARIABLE "=");
}

bool environment_lacks_tracer(char *const variables[])
{
	const char *preloaded = find(variables, kinds[PRELOADED].name);

	return !preloaded || !has_ours(&kinds[PRELOADED], preloaded);
}

bool environment_is_of_valgrind(char *const variables[])
{
	return find(variables, IN_VALGRIND);
}

/* Keep our entries of a variable; false when they find no room. */
static bool keep_list(enum list_number number, struct list *texts)
{
	const struct list_kind *kind = &kinds[number];
	const char *found = find(environ, kind->name);
	const char *entries = found ? found + strlen(kind->name) : "";

	texts->text += texts->size;
	texts->room -= texts->size;
	texts->size = 0;
	while (*entries) {
		const size_t length = entry_length(kind, entries);

		if (is_ours(kind, entries, length) && !add(texts, entries, length, ""))
			return false;
		entries += length + (entries[length] == ':');
	}
	if (texts->size)
		kept[number] = texts->text;
	/* With its zero: the next one comes after it. */
	texts->size += texts->size > 0;
	return true;
}

void environment_keep(void)
{
	static char memory[MOST_KEPT];
	struct list texts = {.text = memory, .room = sizeof(memory)};

	for (size_t number = 0; number < LISTS; number++)
		if (!keep_list((enum list_number) number, &texts)) {
			memset(kept, 0, sizeof(kept));
			return;
		}
}
