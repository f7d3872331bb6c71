/* Takes files of rules apart, and compares names and levels of events with them. */
#include "rule_file.h"

#include <string.h>

#include "patterns.h"

/* Find the parts of the rule at a place; false when they are not all inside. */
static bool take_apart(const struct rule_file *file, uint32_t place, struct rule *rule)
{
	const uint64_t rest = file->size - place;
	const struct rule_head *head = (const void *) (file->bytes + place);
	uint64_t code_size;

	if (rest < sizeof(*head) || head->size > rest || head->size % 8 != 0)
		return false;
	code_size = (uint64_t) head->instruction_count * sizeof(struct instruction);
	if (head->patterns_size % 8 != 0 || head->text_size % 8 != 0 ||
	    sizeof(*head) + head->patterns_size + code_size + head->text_size != head->size)
		return false;
	rule->head = head;
	rule->patterns = (const char *) (head + 1);
	rule->code = (const void *) (rule->patterns + head->patterns_size);
	rule->text = (const char *) rule->code + code_size;
	/* All patterns end before the code does. */
	return head->pattern_count && head->patterns_size &&
		rule->patterns[head->patterns_size - 1] == '\0';
}

static bool is_whole(const struct rule_file *file)
{
	const struct rules_head *head = (const void *) file->bytes;
	uint32_t place = sizeof(*head);
	struct rule rule;

	if (memcmp(head->magic, RULES_MAGIC, sizeof(head->magic)) != 0 ||
	    head->size != file->size || head->rule_count > MOST_RULES)
		return false;
	for (uint32_t count = 0; count < head->rule_count; count++) {
		if (!take_apart(file, place, &rule))
			return false;
		place += rule.head->size;
	}
	return place == file->size;
}

bool rule_file_set(struct rule_file *file, const char *bytes, uint64_t size)
{
	file->bytes = NULL;
	if (size < sizeof(struct rules_head) || size > LARGEST_RULES)
		return false;
	file->bytes = bytes;
	file->size = (uint32_t) size;
	if (!is_whole(file))
		file->bytes = NULL;
	return file->bytes != NULL;
}

bool rule_file_next(const struct rule_file *file, uint32_t *place, struct rule *rule)
{
	if (!*place)
		*place = sizeof(struct rules_head);
	if (!file->bytes || *place >= file->size || !take_apart(file, *place, rule))
		return false;
	*place += rule->head->size;
	return true;
}

/* Whether the name is what the first pattern says, and none of the others. */
static bool takes_name(const struct rule *rule, const char *name)
{
	const char *pattern = rule->patterns;
	const char *end = pattern + rule->head->patterns_size;

	if (!glob_matches(pattern, name))
		return false;
	for (uint32_t count = 1; count < rule->head->pattern_count; count++) {
		pattern += strlen(pattern) + 1;
		if (pattern >= end)
			break;
		if (glob_matches(pattern, name))
			return false;
	}
	return true;
}

bool rule_takes(const struct rule *rule, const char *name, int32_t level)
{
	return level >= rule->head->first_level && level <= rule->head->last_level &&
		takes_name(rule, name);
}
