/* Reads the list of what is mapped, which takes no lock of the dynamic linker. */
#define _GNU_SOURCE
#include "maps.h"

#include <stdlib.h>
#include <string.h>

#include "system.h"

static char *next_line(struct maps *maps)
{
	for (;;) {
		char *line = maps->bytes + maps->at;
		char *newline = memchr(line, '\n', maps->end - maps->at);
		long got;

		if (newline) {
			*newline = '\0';
			maps->at = (size_t) (newline + 1 - maps->bytes);
			return line;
		}
		memmove(maps->bytes, line, maps->end - maps->at);
		maps->end -= maps->at;
		maps->at = 0;
		got = system_pread(maps->file, maps->bytes + maps->end,
				   sizeof(maps->bytes) - maps->end, maps->offset);
		if (got <= 0)
			return NULL;
		maps->offset += (uint64_t) got;
		maps->end += (size_t) got;
	}
}

/* start-end perms offset major:minor inode path. */
static bool parse_line(char *line, struct mapping *mapping)
{
	mapping->start = strtoul(line, &line, 16);
	if (*line++ != '-')
		return false;
	mapping->end = strtoul(line, &line, 16);
	if (*line++ != ' ' || strlen(line) < 5)
		return false;
	mapping->offset = strtoull(line + 5, &line, 16);
	line = strchr(line, ':');
	if (!line)
		return false;
	strtoul(line + 1, &line, 16);
	mapping->inode = strtoull(line, &line, 10);
	mapping->path = line + strspn(line, " ");
	return true;
}

/* What is looked for. */
struct wanted {
	uintptr_t address;
	/* NULL: at the address. */
	const char *path;
	bool is_file;
};

static bool is_wanted(const struct mapping *mapping, const struct wanted *wanted)
{
	if (wanted->path)
		return !strcmp(mapping->path, wanted->path);
	return wanted->address >= mapping->start && wanted->address < mapping->end &&
		(!wanted->is_file || mapping->path[0] == '/');
}

static bool find(struct maps *maps, int file, const struct wanted *wanted,
		 struct mapping *mapping)
{
	bool is_found = false;
	char *line;

	maps->at = 0;
	maps->end = 0;
	maps->offset = 0;
	maps->file = file;
	while (!is_found && (line = next_line(maps)))
		is_found = parse_line(line, mapping) && is_wanted(mapping, wanted);
	system_close(file);
	return is_found;
}

bool maps_find(struct maps *maps, int file, uintptr_t address, struct mapping *mapping)
{
	return find(maps, file, &(struct wanted) {.address = address, .is_file = true}, mapping);
}

bool maps_find_any(struct maps *maps, int file, uintptr_t address, struct mapping *mapping)
{
	return find(maps, file, &(struct wanted) {.address = address}, mapping);
}

bool maps_find_path(struct maps *maps, int file, const char *path, struct mapping *mapping)
{
	return find(maps, file, &(struct wanted) {.path = path}, mapping);
}
