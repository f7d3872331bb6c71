/*
 * The tracer's units that read or write texts and files, one by one, for sanitizers.
 *
 *   reading globs         lines of a pattern, a tab and a name: 1 where they match
 *   reading patterns      lines of patterns of functions: how many there are, -1 where they are
 *                         malformed
 *   reading contexts      lines of names: the number and the size of the context, or -1
 *   reading settings      lines of settings: what is read from them, or "no"
 *   reading rules FILE    whether each file's rules choose the event, and pass its values
 *   reading objects FILE  how many functions each file has that begin with "chosen", and its
 *                         debug link
 *   reading described DYNAMIC FILE
 *                         for each file, as if it were mapped whole, then as if nothing could be
 *                         read of the mapping: how large the object is, and its build ID, or "no"
 *   reading descriptor PATH INODE SOCKET
 *                         whether the arena is found, and how many descriptors are open more
 *   reading maps FILE     what is mapped at 0x5000 in lists like /proc/self/maps: its beginning,
 *                         offset, inode and path, or "no"
 *   reading classes       the event record class of the event, in TSDL
 *   reading formats       ends with status 1 where numbers and texts are not formatted as by the
 *                         C library
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena/classes.h"
#include "arena/descriptor.h"
#include "arena/map.h"
#include "base/maps.h"
#include "base/process.h"
#include "base/settings.h"
#include "hooks/event_class.h"
#include "hooks/settings_words.h"
#include "objects/describe.h"
#include "objects/file.h"
#include "rules/expression_run.h"
#include "rules/function_names.h"
#include "rules/patterns.h"
#include "rules/rules.h"
#include "stream/context.h"
#include "stream/room.h"

#define MOST_BYTES (1u << 20)

/* What the tracer calls snprintf(), see the recipe of this program. */
int own_snprintf(char *to, size_t room, const char *format, ...);

/* In place of the arena's: what is registered is printed. */
struct arena arenas[CHANNELS];

int classes_find(struct arena *arena, const char *text, size_t size, uint32_t process)
{
	(void) arena;
	(void) process;
	fwrite(text, 1, size, stdout);
	return 7;
}

/* --- an event with a field of each kind --- */

static const struct vestige_label labels[] = {
	{.text = "none", .first = 0, .last = 0},
	{.text = "a \"quoted\\\" text", .first = -5, .last = -2},
	{.text = "next", .is_automatic = 1},
	{.text = "last", .first = INT64_MAX, .last = INT64_MAX},
	{.text = "behind the last", .is_automatic = 1},
};
static const struct vestige_enum all_labels = {"units", "labels", labels, 5};
static const struct vestige_enum no_labels = {"units", "nothing", NULL, 0};
static const uint8_t bytes[4] = {1, 2, 3, 250};
static const int16_t numbers[3] = {-1, 0, 300};

static const struct vestige_field fields[] = {
	{.name = "number", .kind = VESTIGE_INTEGER, .flags = VESTIGE_SIGNED, .size = 8},
	{.name = "real", .kind = VESTIGE_FLOAT, .size = 8},
	{.name = "text", .kind = VESTIGE_STRING},
	{.name = "bytes", .kind = VESTIGE_ARRAY, .size = 1, .length = 4},
	{.name = "numbers",
	 .kind = VESTIGE_SEQUENCE,
	 .flags = VESTIGE_SIGNED,
	 .size = 2,
	 .length_size = 4},
	{.name = "choice",
	 .kind = VESTIGE_ENUM,
	 .flags = VESTIGE_SIGNED,
	 .size = 8,
	 .labels = &all_labels},
	{.name = "empty", .kind = VESTIGE_ENUM, .size = 4, .labels = &no_labels},
	{.name = "hidden", .kind = VESTIGE_INTEGER, .flags = VESTIGE_NOT_WRITTEN, .size = 4},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static const struct vestige_value values[FIELDS] = {
	{.as.integer = 42},
	{.as.real = -0.5},
	{.as.bytes = "hello", .length = 5},
	{.as.bytes = bytes, .length = 4},
	{.as.bytes = numbers, .length = 3},
	{.as.integer = -5},
	{.as.integer = 0},
	{.as.integer = 9},
};
static const struct vestige_event_class event_class = {
	.struct_size = sizeof(event_class), .field_count = FIELDS, .fields = fields};
static struct vestige_event event = {.struct_size = sizeof(event),
				     .name = "event",
				     .event_class = &event_class,
				     .model_emf_uri = "http://a/\"b\"\n",
				     .log_level = 13};
static const struct vestige_provider provider = {.struct_size = sizeof(provider),
						 .name = "units"};

/* --- files --- */

/* Bytes in memory that ends where they do. */
static char *read_file(const char *path, size_t *size)
{
	char *all = malloc(MOST_BYTES);
	FILE *file = fopen(path, "rb");
	char *exact;

	if (!file || !all)
		exit(2);
	*size = fread(all, 1, MOST_BYTES, file);
	fclose(file);
	exact = malloc(*size);
	memcpy(exact, all, *size);
	free(all);
	return exact;
}

/* In a process of its own: rules are read once. */
static void choose(const char *path)
{
	bool is_chosen;
	int status;
	size_t size;

	fflush(stdout);
	if (fork()) {
		if (wait(&status) < 0 || status != 0)
			exit(1);
		return;
	}
	const char *rules = read_file(path, &size);

	rules_set(0, rules, size);
	is_chosen = rules_choose(0, &provider, &event, &event.filter);
	printf("%d %d\n", is_chosen,
	       is_chosen && (!event.filter || expression_passes(event.filter, values, NULL)));
	fflush(stdout);
	_exit(0);
}

static void look_into(const char *path)
{
	struct filtered object = {.applies = {1}};
	struct object described = {.dynamic = 0};
	const int file = open(path, O_RDONLY);
	ElfW(Ehdr) header;
	bool is_read;
	int opened;

	if (file < 0)
		exit(2);
	is_read = names_read(&object, file, 0x10000000, 0);
	/* Whatever was found can be asked for. */
	for (size_t index = 0; object.found && index < object.count; index++)
		names_verdict(&object, object.found[index] >> 2);
	close(file);
	opened = object_open(&described, path, &header);
	if (opened >= 0) {
		object_find_debug_link(&described, opened, &header);
		close(opened);
	}
	printf("%d %zu %s %x\n", is_read, object.count,
	       described.has_debug_link ? described.debug_link : "-",
	       described.has_debug_link ? described.crc : 0);
	object_forget(&described);
}

static void find_mapping(const char *path)
{
	static struct maps maps;
	struct mapping mapping;

	if (maps_find(&maps, open(path, O_RDONLY), 0x5000, &mapping))
		printf("%lx %llx %llu %s\n", (unsigned long) mapping.start,
		       (unsigned long long) mapping.offset, (unsigned long long) mapping.inode,
		       mapping.path);
	else
		printf("no\n");
}

/* --- lines --- */

static void match(char *line)
{
	char *name = strchr(line, '\t');

	*name++ = '\0';
	printf("%d\n", glob_matches(line, name));
}

static void count_patterns(char *line)
{
	const bool is_right = patterns_parse(line, strlen(line), false);

	printf("%d\n", is_right ? (int) patterns.count : -1);
	patterns.count = 0;
}

/* Here nothing is recorded, and no thread has notes. */
void stream_meet_notes(void)
{
}

static void find_context(char *line)
{
	const int number = context_find(line, strlen(line));

	printf("%d %u\n", number, number < 0 ? 0 : context_size((unsigned int) number));
}

static void read_settings(char *line)
{
	static struct wanted wanted;
	struct context_choice contexts;

	memset(&wanted, 0, sizeof(wanted));
	setenv(SETTINGS_VARIABLE, line, 1);
	if (settings_words_read(&wanted)) {
		contexts = settings_contexts(&wanted.settings.channels[0]);
		printf("%s %llu %s %d %d %x %u %s\n", wanted.place.path,
		       (unsigned long long) wanted.place.inode, wanted.place.socket,
		       wanted.settings.on_entry, wanted.settings.on_exit, contexts.chosen,
		       contexts.size, wanted.settings.directory);
	} else
		printf("no\n");
	patterns.count = 0;
}

/* --- objects that are loaded --- */

static void describe_at(char *path, char *place, uint64_t dynamic)
{
	const struct link_map map = {
		.l_addr = (uintptr_t) place,
		.l_name = path,
		.l_ld = (ElfW(Dyn) *) (void *) (place + dynamic),
	};
	struct object object = {.size = 0};

	if (object_from_map(&object, &map)) {
		printf("%llu ", (unsigned long long) object.size);
		for (size_t index = 0; index < object.build_id_size; index++)
			printf("%02x", object.build_id[index]);
		printf(" %s\n", strcmp(object.path, path) ? object.path : "same");
	} else {
		printf("no\n");
	}
	object_forget(&object);
}

static void describe(char *path, uint64_t dynamic)
{
	const int file = open(path, O_RDONLY);
	struct stat status;
	char *place;

	if (file < 0 || fstat(file, &status) != 0)
		exit(2);
	place = mmap(NULL, (size_t) status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (place == MAP_FAILED)
		exit(2);
	close(file);
	describe_at(path, place, dynamic);
	munmap(place, (size_t) status.st_size);
	describe_at(path, place, dynamic);
}

/* --- where the arena is --- */

static int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	while (directory && readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static void open_arena(const char *path, const char *inode, const char *name)
{
	struct arena_place place = {.inode = strtoull(inode, NULL, 10)};
	const int before = count_descriptors();
	int file;

	strcpy(place.path, path);
	strcpy(place.socket, name);
	file = descriptor_open(&place);
	printf("%s %d\n", file < 0 ? "no" : "found", count_descriptors() - before);
}

static void for_each_line(void (*function)(char *line))
{
	static char line[1 << 16];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		function(line);
	}
}

/* --- formats --- */

/* What both make of the same; a room of 0 has no end either. */
#define SAME(room, ...)                                                                     \
	do {                                                                                \
		char ours[64], theirs[64];                                                  \
		int length, other;                                                          \
                                                                                            \
		memset(ours, 'x', sizeof(ours));                                            \
		memset(theirs, 'x', sizeof(theirs));                                        \
		length = own_snprintf(ours, room, __VA_ARGS__);                             \
		other = snprintf(theirs, room, __VA_ARGS__);                                \
		if (length != other || memcmp(ours, theirs, sizeof(ours)) != 0) {           \
			fprintf(stderr, "line %d: %.64s: %.64s\n", __LINE__, ours, theirs); \
			exit(1);                                                            \
		}                                                                           \
	} while (0)

static void compare_formats(void)
{
	static const long long all[] = {0, 1, -1, 42, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};

	for (size_t room = 0; room <= 40; room++) {
		for (size_t index = 0; index < sizeof(all) / sizeof(all[0]); index++) {
			const long long one = all[index];

			SAME(room, "%d", (int) one);
			SAME(room, "<%u %x>", (unsigned int) one, (unsigned int) one);
			SAME(room, "%ld%lu%lx", (long) one, (unsigned long) one,
			     (unsigned long) one);
			SAME(room, "%lld,%llu,%llx", one, (unsigned long long) one,
			     (unsigned long long) one);
			SAME(room, "%zu%%", (size_t) one);
		}
		SAME(room, "%s and %.*s", "first", 3, "second");
		SAME(room, "%.*s|", -1, "all of it");
		SAME(room, "%.*s|", 0, "nothing");
	}
}

int main(int count, char **words)
{
	const char *mode = count > 1 ? words[1] : "";
	const char chosen[] = ":chosen*";

	if (!process_begin())
		return 2;
	if (!strcmp(mode, "globs"))
		for_each_line(match);
	else if (!strcmp(mode, "patterns"))
		for_each_line(count_patterns);
	else if (!strcmp(mode, "contexts"))
		for_each_line(find_context);
	else if (!strcmp(mode, "settings"))
		for_each_line(read_settings);
	else if (!strcmp(mode, "formats"))
		compare_formats();
	else if (!strcmp(mode, "classes"))
		printf("%u\n", event_class_id(0, &provider, &event));
	else if (!strcmp(mode, "objects"))
		patterns_parse(chosen, strlen(chosen), false);
	if (!strcmp(mode, "descriptor") && count > 4) {
		open_arena(words[2], words[3], words[4]);
		return 0;
	}
	for (int index = 2; index < count; index++) {
		if (!strcmp(mode, "described")) {
			if (index > 2)
				describe(words[index], strtoull(words[2], NULL, 10));
		} else if (!strcmp(mode, "rules"))
			choose(words[index]);
		else if (!strcmp(mode, "maps"))
			find_mapping(words[index]);
		else
			look_into(words[index]);
	}
	return 0;
}
