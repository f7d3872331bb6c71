/* Takes the rules of triggers. */
#include "watching.h"

#include <stdbool.h>

#include "../base/system.h"
#include "../rules/watches.h"
#include "telling.h"
#include "tracepoint.h"

/* Of rules, with what is told. */
#define LARGEST_WATCHES ((size_t) 8 << 20)

/* The rules of a daemon, which nothing that was made of them refers to. */
struct rules {
	unsigned int which;
	const struct message_watch *message;
	char *bytes;
	size_t size;
	bool is_whole;
};

static struct rules present[WATCH_SOURCES];

static void replace(void *data)
{
	struct rules *const rules = data;

	rules->is_whole = watches_set(rules->which, rules->message,
				      rules->bytes ? rules->bytes : "", rules->size);
}

/* Have other rules, and give back the memory of those before. */
static bool change(struct rules *rules)
{
	struct rules *const before = &present[rules->which];

	tracepoints_change(replace, rules);
	if (before->bytes)
		system_munmap(before->bytes, before->size);
	*before = *rules;
	return rules->is_whole && watches_have_room();
}

enum joining_status watching_take(unsigned int which, const struct message_watch *message,
				  int file, int pipe, int counters)
{
	struct rules rules = {.which = which, .message = message};
	struct stat status;

	if (pipe >= 0 && counters >= 0)
		telling_take(which, pipe, counters);
	if (file < 0 || !system_fstat(file, &status) || status.st_size <= 0 ||
	    status.st_size > (off_t) LARGEST_WATCHES)
		return JOINING_FAILED;
	rules.size = (size_t) status.st_size;
	rules.bytes = system_mmap(NULL, rules.size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!rules.bytes)
		return JOINING_FAILED;
	if (!system_pread_all(file, rules.bytes, rules.size, 0)) {
		system_munmap(rules.bytes, rules.size);
		return JOINING_FAILED;
	}
	return change(&rules) ? JOINING_DONE : JOINING_FAILED;
}

void watching_end(unsigned int which)
{
	static const struct message_watch nothing;
	struct rules none = {.which = which, .message = &nothing};

	if (telling_is_begun(which))
		change(&none);
}
