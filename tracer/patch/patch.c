/*
 * Recording calls in programs that were compiled without hooks: where it begins.
 *
 * It happens once, when the program begins, while no other thread could be in the code that
 * is rewritten. What cannot be done is left, and the recorder is told.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "../agreement/agreement.h"
#include "../base/refusal.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "../hooks/tracing.h"
#include "calls.h"
#include "plan.h"
#include "rewrite.h"
#include "thunks.h"

#if defined(__x86_64__)

#define TASKS "/proc/self/task"
/* See "CET Shadow Stack" in the kernel's documentation. */
#define SHADOW_STACK_STATUS 0x5005
#define SHADOW_STACK_IS_ON 1ul

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

static bool has_shadow_stack(void)
{
	unsigned long features = 0;

	return system_call(SYS_arch_prctl, SHADOW_STACK_STATUS, (long) &features, 0, 0, 0, 0) ==
		0 &&
		(features & SHADOW_STACK_IS_ON);
}

/* Apply a plan; NULL, or why not. */
static const char *apply(const struct plan *plan, const struct dl_phdr_info *info)
{
	struct thunks thunks;
	const char *reason;

	if (has_shadow_stack())
		return UNPATCHED_SHADOW;
	if (has_threads())
		return UNPATCHED_THREADS;
	if (!calls_start())
		return UNPATCHED_MEMORY;
	reason = thunks_make(&thunks, plan, info);
	if (reason)
		return reason;
	if (thunks_seal(&thunks) && rewrite_entries(plan, &thunks, info->dlpi_addr))
		return NULL;
	thunks_drop(&thunks);
	return UNPATCHED_POLICY;
}

static int patch_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct plan plan;
	const char *reason = plan_read(&plan, info);

	(void) size;
	(void) unused;
	if (!reason && plan.functions)
		reason = apply(&plan, info);
	plan_close(&plan);
	if (reason)
		refusal_write(settings.directory, UNPATCHED_MARK, reason,
			      *info->dlpi_name ? info->dlpi_name : NULL);
	return 0;
}

/* After the settings are read, and before the constructors of the program. */
static __attribute__((constructor(102))) void start(void)
{
	signals before;

	tracing_start();
	if (!settings.is_recording || !settings.has_plans ||
	    (settings.on_entry == FUNCTIONS_OFF && settings.on_exit == FUNCTIONS_OFF))
		return;
	before = system_block_signals();
	dl_iterate_phdr(patch_object, NULL);
	system_restore_signals(before);
}

#endif
