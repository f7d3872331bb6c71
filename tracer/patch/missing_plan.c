/*
 * Plans that are not there: asking the recorder for them, and telling it what came of others.
 *
 * A program that another one executes, and an object that is loaded later, may be none that the
 * recorder foresaw. It is asked where a program could ask for an arena, since neither the user nor
 * the root directory matter there. Who is not answered in time goes on without, and asks no more.
 *
 * One thread is here at a time: in a constructor, or with the lock of the dynamic linker.
 */
#define _GNU_SOURCE
#include "missing_plan.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "../agreement/agreement.h"
#include "../agreement/plan.h"
#include "../arena/descriptor.h"
#include "../base/refusal.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "../hooks/tracing.h"

#define PROGRAM_FILE "/proc/self/exe"
/* For those who have nothing to wait for. */
#define TELLING_MS 20

static struct plan_request request;
/* Whether an answer did not come in time. */
static bool is_vain;

static void begin(uint32_t flags)
{
	const struct arena_place *place = tracing_place(0);

	memset(&request, 0, sizeof(request));
	for (size_t index = 0; index < sizeof(request.token); index++)
		request.token[index] = (uint8_t) ~place->token[index];
	request.flags = flags;
}

static bool set_path(const char *name)
{
	const size_t length = strlen(name);

	if (length >= sizeof(request.path))
		return false;
	memcpy(request.path, name, length);
	return true;
}

const char *missing_plan_ask(const struct object *object, const struct dl_phdr_info *info,
			     int *file)
{
	const struct descriptor_question question = {&request, sizeof(request),
						     settings.plan_wait};
	const bool is_program = !*info->dlpi_name;
	char answer;

	*file = -1;
	/* The vDSO is no file. */
	if (!settings.plan_wait || is_vain || (!is_program && !strchr(info->dlpi_name, '/')))
		return NULL;
	begin(is_program ? PLAN_OF_PROGRAM : 0);
	request.build_id_size = (uint32_t) object->build_id_size;
	memcpy(request.build_id, object->build_id, object->build_id_size);
	if (is_program)
		/* If it cannot be read, the recorder still knows the process. */
		system_readlink(PROGRAM_FILE, request.path, sizeof(request.path) - 1);
	else if (!set_path(info->dlpi_name))
		return UNPATCHED_PLAN;
	if (descriptor_ask(tracing_place(0), &question, &answer, file) && answer)
		return NULL;
	is_vain = true;
	return UNPATCHED_LATE;
}

void missing_plan_tell(const char *reason, const char *name)
{
	const struct descriptor_question question = {&request, sizeof(request), TELLING_MS};
	const char *last = strrchr(name, '/');
	char answer;
	int file;

	/* There is not room for each path. */
	name = last ? last + 1 : name;
	if (refusal_write(settings.directory, UNPATCHED_MARK, reason, *name ? name : NULL))
		return;
	/* Another user's process may not write there. */
	begin(PLAN_REFUSED);
	if (snprintf(request.path, sizeof(request.path), "%s %s", reason,
		     *name ? name : "the program") >= (int) sizeof(request.path))
		return;
	descriptor_ask(tracing_place(0), &question, &answer, &file);
	if (file >= 0)
		system_close(file);
}
