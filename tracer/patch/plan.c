/*
 * Plans: reading and checking them.
 *
 * The recorder wrote them into the directory of the trace, where an empty one is that of an object
 * that is left alone; what is not there is asked for. They are believed only if nobody else
 * could write them, and if all bytes that are to be replaced are in memory what they are there.
 */
#define _GNU_SOURCE
#include "plan.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../agreement/agreement.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "../objects/describe.h"
#include "../rules/filter.h"
#include "missing_plan.h"

#define LARGEST_PLAN (512u << 20)
#define ALIGNED(size) (((size) + 7u) & ~(size_t) 7)

/* Open the file of an object without following links; -1 if there is none. */
static int open_plan(const struct object *object)
{
	static const char digits[] = "0123456789abcdef";
	static char path[PATH_MAX + 2 * LARGEST_BUILD_ID + 16];
	const int length =
		snprintf(path, PATH_MAX + 16, "%s/%s/", settings.directory, PLANS_DIRECTORY);
	char *at = path + length;

	for (size_t index = 0; index < object->build_id_size; index++) {
		*at++ = digits[object->build_id[index] >> 4];
		*at++ = digits[object->build_id[index] & 15];
	}
	*at = '\0';
	return system_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

/* Whether a file is the recorder's, or that of an administrator. */
static bool is_trusted(const struct stat *status)
{
	return S_ISREG(status->st_mode) && !(status->st_mode & (S_IWGRP | S_IWOTH)) &&
		(status->st_uid == 0 || status->st_uid == geteuid());
}

static const char *read_file(struct plan *plan, int file)
{
	struct stat status;

	if (!system_fstat(file, &status) || !is_trusted(&status))
		return UNPATCHED_PLAN;
	if (!status.st_size)
		return NULL;
	if (status.st_size < (off_t) sizeof(struct plan_header) || status.st_size > LARGEST_PLAN)
		return UNPATCHED_PLAN;
	plan->size = (size_t) status.st_size;
	plan->mapped = plan->size;
	plan->bytes = system_mmap(NULL, plan->mapped, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!plan->bytes)
		return UNPATCHED_MEMORY;
	return system_pread_all(file, plan->bytes, plan->size, 0) ? NULL : UNPATCHED_PLAN;
}

/* Whether so many bytes lie in a segment of code. */
static bool is_code(const struct dl_phdr_info *info, uint64_t place, size_t size)
{
	for (unsigned int index = 0; index < info->dlpi_phnum; index++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[index];

		if (header->p_type == PT_LOAD && (header->p_flags & PF_X) &&
		    place >= header->p_vaddr && place - header->p_vaddr <= header->p_filesz &&
		    size <= header->p_filesz - (place - header->p_vaddr))
			return true;
	}
	return false;
}

static bool has_good_fixups(const struct plan_entry *entry)
{
	for (unsigned int index = 0; index < entry->function->fixups; index++)
		if (entry->fixups[index].at + sizeof(int32_t) > entry->function->code_size)
			return false;
	return true;
}

bool plan_next(const struct plan *plan, size_t *at, struct plan_entry *entry)
{
	const size_t start = *at ? *at : sizeof(struct plan_header);
	const struct plan_function *function = (const void *) (plan->bytes + start);
	size_t size = sizeof(*function);

	if (plan->size - start < size)
		return false;
	size += ALIGNED(function->code_size);
	if (plan->size - start < size + function->fixups * sizeof(struct plan_fixup))
		return false;
	entry->function = function;
	entry->code = (const uint8_t *) (function + 1);
	entry->fixups = (const void *) (plan->bytes + start + size);
	*at = start + size + function->fixups * sizeof(struct plan_fixup);
	return true;
}

/* Check all functions, and that memory is what was planned. */
static const char *check(struct plan *plan, const struct dl_phdr_info *info)
{
	struct plan_entry entry;
	uint64_t end = 0;
	size_t at = 0;

	while (plan_next(plan, &at, &entry)) {
		const struct plan_function *function = entry.function;
		const size_t size = function->replaced_size;

		if (size < PLAN_JUMP_BYTES || size > sizeof(function->replaced) ||
		    function->code_size > PLAN_MOST_CODE || function->place < end ||
		    function->place < function->address || !has_good_fixups(&entry) ||
		    !is_code(info, function->place, size))
			return UNPATCHED_PLAN;
		if (memcmp((const void *) (info->dlpi_addr + function->place), function->replaced,
			   size) != 0)
			return UNPATCHED_BYTES;
		end = function->place + size;
		plan->functions++;
	}
	return at == plan->size || !plan->functions ? NULL : UNPATCHED_PLAN;
}

static const char *check_header(struct plan *plan, const struct object *object)
{
	const struct plan_header *header = (const void *) plan->bytes;

	if (memcmp(header->magic, PLAN_MAGIC, sizeof(header->magic)) != 0 ||
	    header->size < sizeof(*header) || header->size > plan->size || header->size % 8 ||
	    header->functions > PLAN_MOST_FUNCTIONS)
		return UNPATCHED_PLAN;
	if (header->build_id_size != object->build_id_size ||
	    memcmp(header->build_id, object->build_id, object->build_id_size) != 0)
		return UNPATCHED_BYTES;
	plan->probes = plan->bytes + header->size;
	plan->probes_size = plan->size - header->size;
	plan->size = header->size;
	return NULL;
}

const char *plan_read(struct plan *plan, const struct dl_phdr_info *info)
{
	static struct object object;
	const char *reason;
	int file;

	memset(plan, 0, sizeof(*plan));
	object.build_id_size = 0;
	object_find_build_id(&object, info);
	if (!object.build_id_size)
		return NULL;
	file = open_plan(&object);
	if (file < 0) {
		reason = missing_plan_ask(&object, info, &file);
		if (file < 0)
			return reason;
	}
	reason = read_file(plan, file);
	system_close(file);
	if (!reason && !plan->bytes)
		return NULL;
	if (!reason)
		reason = check_header(plan, &object);
	if (!reason)
		reason = check(plan, info);
	if (!reason && plan->functions != ((const struct plan_header *) plan->bytes)->functions)
		reason = UNPATCHED_PLAN;
	if (reason)
		plan_close(plan);
	return reason;
}

void plan_choose(struct plan *plan, uintptr_t bias)
{
	struct plan_entry entry;
	size_t kept = sizeof(struct plan_header);
	size_t at = 0;

	while (plan_next(plan, &at, &entry)) {
		const char *start = (const char *) entry.function;
		const size_t size = (size_t) (plan->bytes + at - start);

		if (!(entry.function->flags & PLAN_PROBED) &&
		    !filter_passes((const void *) (bias + entry.function->address))) {
			plan->functions--;
			continue;
		}
		memmove(plan->bytes + kept, start, size);
		kept += size;
	}
	plan->size = kept;
}

void plan_close(struct plan *plan)
{
	if (plan->bytes)
		system_munmap(plan->bytes, plan->mapped);
	memset(plan, 0, sizeof(*plan));
}
