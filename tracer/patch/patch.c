/*
 * Recording calls in programs that were compiled without hooks: where it begins.
 *
 * It happens when the program begins, and when the dynamic linker has mapped an object that was not
 * there then: while no thread could be in the code that is rewritten. What cannot be done is left, and
 * the recorder is told.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../agreement/agreement.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "../hooks/tracing.h"
#include "../objects/loads.h"
#include "calls.h"
#include "missing_plan.h"
#include "plan.h"
#include "probes.h"
#include "rewrite.h"
#include "thread_ends.h"
#include "thunks.h"

#if defined(__x86_64__)

#define TASKS "/proc/self/task"
/* In the name of a library. */
#define COPIES_STACKS "greenlet"

/* A directory has a link for each directory in it, and two of its own. */
static bool has_threads(void)
{
	const int file = system_open(TASKS, O_RDONLY | O_DIRECTORY);
	struct stat status;
	bool is_alone;

	if (file < 0)
		return true;
	is_alone = system_fstat(file, &status) && status.st_nlink == 3;
	system_close(file);
	return !is_alone;
}

/* Apply a plan; NULL, or why not. */
static const char *apply(const struct plan *plan, const struct dl_phdr_info *info)
{
	struct thunks thunks;
	const char *reason;

	if (!calls_start())
		return UNPATCHED_MEMORY;
	reason = thunks_make(&thunks, plan, info);
	if (reason)
		return reason;
	if (thunks_seal(&thunks) && rewrite_entries(plan, &thunks, info->dlpi_addr)) {
		thunks_keep(&thunks);
		return calls_lack_exits();
	}
	thunks_drop(&thunks);
	return UNPATCHED_POLICY;
}

static void patch_object(const struct dl_phdr_info *info, bool is_running)
{
	struct plan plan;
	const char *reason = plan_read(&plan, info);

	if (!reason && !probes_load(info, plan.probes, plan.probes_size))
		reason = UNPATCHED_PLAN;
	if (plan.functions && ((settings.on_entry | settings.on_exit) & FUNCTIONS_FILTERED))
		plan_choose(&plan, info->dlpi_addr);
	if (!reason && plan.functions)
		reason = is_running && has_threads() ? UNPATCHED_THREADS : apply(&plan, info);
	plan_close(&plan);
	if (reason)
		missing_plan_tell(reason, info->dlpi_name);
}

/* Greenlets are coroutines that share one stack, from which parts are copied away and back. */
static void look_at_name(const char *name)
{
	const char *last = strrchr(name, '/');

	if (strstr(last ? last : name, COPIES_STACKS) &&
	    settings.on_library_exit != FUNCTIONS_OFF && calls_leave_returns())
		missing_plan_tell(UNPATCHED_COPIES, "");
}

static int patch_first(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void) size;
	(void) unused;
	look_at_name(info->dlpi_name);
	if (settings.has_plans)
		patch_object(info, true);
	return 0;
}

/* None of its code has run, whatever other threads do. */
static void patch_later(const struct link_map *map, const struct object *object)
{
	const ElfW(Ehdr) *header = (const void *) map->l_addr;
	struct dl_phdr_info info = {.dlpi_addr = map->l_addr, .dlpi_name = map->l_name};
	signals before;

	look_at_name(map->l_name);
	if (!settings.has_plans)
		return;
	/* Of a program that is linked at another address, the headers are elsewhere. */
	if (object->base != map->l_addr || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > object->size)
		return;
	info.dlpi_phdr = (const void *) (map->l_addr + header->e_phoff);
	info.dlpi_phnum = header->e_phnum;
	before = system_block_signals();
	patch_object(&info, false);
	system_restore_signals(before);
}

/* After the settings are read, and before the constructors of the program. */
static __attribute__((constructor(102))) void start(void)
{
	signals before;

	tracing_start();
	if (!settings.is_recording)
		return;
	if (!(settings.has_plans && probes_start()) &&
	    settings.on_library_entry == FUNCTIONS_OFF &&
	    settings.on_library_exit == FUNCTIONS_OFF)
		return;
	thread_ends_start();
	/* Without plans, too: libraries are called, and functions may call __fentry__ first. */
	before = system_block_signals();
	dl_iterate_phdr(patch_first, NULL);
	system_restore_signals(before);
	loads_watch(patch_later, thunks_forget);
}

#endif
