/* Reads rules of triggers, and finds those for an event. */
#include "watches.h"

#include <stdio.h>
#include <string.h>

#include "../base/system.h"
#include "expression_bind.h"
#include "rule_file.h"

/* Address space for lists. */
#define LIST_BYTES ((size_t) 32 << 20)
#define LIST_UNIT 16u

/* Those of a daemon. */
struct source {
	struct rule_file file;
	uint32_t count;
	const struct watch_head *heads;
	const struct capture_head *captures;
	uint32_t capture_count;
	const char *text;
	uint32_t text_size;
};

static struct source sources[WATCH_SOURCES];
/* Since there are these rules. */
static bool is_room_missing;

/* What an event gets, while it is found. */
struct finding {
	const struct vestige_event *event;
	uint32_t count;
	uint32_t capture_count;
	struct watch watches[MOST_WATCHES];
	/* Of each: the first of its captures, and the texts of these. */
	const struct capture_head *captures[MOST_WATCHES];
};

/* Whether each watch has its captures, and each of these its name. */
static bool is_whole(const struct source *source)
{
	uint64_t captures = 0;

	for (uint32_t index = 0; index < source->count; index++) {
		const struct watch_head *head = &source->heads[index];

		captures += head->capture_count;
		if (head->capture_count > MOST_CAPTURES || head->counter >= MOST_WATCHES)
			return false;
	}
	if (captures != source->capture_count)
		return false;
	for (uint32_t index = 0; index < source->capture_count; index++) {
		const struct capture_head *head = &source->captures[index];

		if (head->offset > source->text_size ||
		    head->length > source->text_size - head->offset)
			return false;
	}
	return true;
}

bool watches_set(unsigned int which, const struct message_watch *message, const char *bytes,
		 size_t size)
{
	struct source made = {
		.count = message->count,
		.capture_count = message->capture_count,
		.text_size = message->text_size,
	};
	const uint64_t wanted = (uint64_t) message->rules_size +
		(uint64_t) message->count * sizeof(struct watch_head) +
		(uint64_t) message->capture_count * sizeof(struct capture_head) +
		message->text_size;
	const struct rules_head *head = (const void *) bytes;

	sources[which] = (struct source) {0};
	is_room_missing = false;
	if (wanted != size || message->rules_size % 8 || message->count > MOST_WATCHES ||
	    !rule_file_set(&made.file, bytes, message->rules_size) ||
	    head->rule_count != message->count)
		return false;
	made.heads = (const void *) (bytes + message->rules_size);
	made.captures = (const void *) (made.heads + made.count);
	made.text = (const char *) (made.captures + made.capture_count);
	if (!is_whole(&made))
		return false;
	sources[which] = made;
	return true;
}

bool watches_are_there(void)
{
	for (unsigned int which = 0; which < WATCH_SOURCES; which++)
		if (sources[which].count)
			return true;
	return false;
}

bool watches_have_room(void)
{
	return !is_room_missing;
}

/* Note a rule that takes the event by its name, unless its filter never does. */
static void add(struct finding *finding, unsigned int which, const struct rule *rule,
		const struct watch_head *head, const struct capture_head *captures)
{
	const struct expression *filter = NULL;
	struct watch *watch = &finding->watches[finding->count];

	if (finding->count == MOST_WATCHES)
		return;
	if (rule->head->instruction_count) {
		filter = expression_add(NULL, finding->event->event_class, rule->code,
					rule->head->instruction_count, rule->text,
					rule->head->text_size);
		if (!filter)
			return;
	}
	*watch = (struct watch) {
		.token = head->token,
		.source = which,
		.counter = head->counter,
		.first_capture = finding->capture_count,
		.capture_count = head->capture_count,
		.filter = filter,
	};
	finding->captures[finding->count++] = captures;
	finding->capture_count += head->capture_count;
}

static void find(struct finding *finding, unsigned int which, const char *name)
{
	const struct source *source = &sources[which];
	const struct capture_head *captures = source->captures;
	uint32_t place = 0;
	struct rule rule;

	for (uint32_t index = 0;
	     index < source->count && rule_file_next(&source->file, &place, &rule); index++) {
		if (rule_takes(&rule, name, finding->event->log_level))
			add(finding, which, &rule, &source->heads[index], captures);
		captures += source->heads[index].capture_count;
	}
}

/* Tokens are of one rule, with what it captures. */
static bool is_same(const struct watch_list *list, const struct finding *finding)
{
	if (!list || list->count != finding->count)
		return false;
	for (uint32_t index = 0; index < list->count; index++)
		if (list->watches[index].token != finding->watches[index].token ||
		    list->watches[index].source != finding->watches[index].source ||
		    list->watches[index].counter != finding->watches[index].counter ||
		    list->watches[index].filter != finding->watches[index].filter)
			return false;
	return true;
}

/* Memory that is never given back; NULL when there is none. */
static void *allocate(size_t size)
{
	static char *memory;
	static size_t used;
	const size_t whole = (size + LIST_UNIT - 1) / LIST_UNIT * LIST_UNIT;
	char *made;

	if (!memory)
		memory = system_mmap(NULL, LIST_BYTES, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!memory || whole > LIST_BYTES - used)
		return NULL;
	made = memory + used;
	used += whole;
	return made;
}

static const struct watch_list *make(const struct finding *finding)
{
	const size_t head = sizeof(struct watch_list) + finding->count * sizeof(struct watch);
	struct watch_list *list =
		allocate(head + finding->capture_count * sizeof(struct capture));
	struct capture *captures;

	if (!list)
		return NULL;
	captures = (struct capture *) (void *) ((char *) list + head);
	list->count = finding->count;
	list->captures = captures;
	memcpy(list->watches, finding->watches, finding->count * sizeof(struct watch));
	for (uint32_t index = 0; index < list->count; index++) {
		const struct watch *watch = &list->watches[index];
		const char *text = sources[watch->source].text;

		for (uint32_t one = 0; one < watch->capture_count; one++) {
			const struct capture_head *wanted = &finding->captures[index][one];

			*captures++ = capture_find(wanted, text + wanted->offset,
						   finding->event->event_class);
		}
	}
	return list;
}

const struct watch_list *watches_choose(const struct watch_list *before,
					const struct vestige_provider *provider,
					const struct vestige_event *event)
{
	/* It is too long for the stack. */
	static struct finding finding;
	const struct watch_list *made;
	char name[FULL_NAME_SIZE];

	if (!watches_are_there())
		return NULL;
	snprintf(name, sizeof(name), "%s:%s", provider->name, event->name);
	finding.event = event;
	finding.count = finding.capture_count = 0;
	for (unsigned int which = 0; which < WATCH_SOURCES; which++)
		find(&finding, which, name);
	if (!finding.count)
		return NULL;
	if (is_same(before, &finding))
		return before;
	made = make(&finding);
	is_room_missing |= !made;
	/* Of rules that are gone the daemon wants to know nothing. */
	return made ? made : before;
}
