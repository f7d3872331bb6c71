/* Reads the rules, and compares names and levels of events with them. */
#include "rules.h"

#include <stdio.h>
#include <string.h>

#include "../base/settings.h"
#include "expression_bind.h"
#include "patterns.h"

/* Names have less, see LTTNG_UST_TRACEPOINT_NAME_LEN_MAX. */
#define FULL_NAME_SIZE 512

/* Those of a channel. */
struct rules {
	/* Without any, all events are recorded. */
	bool are_there;
	/* NULL when they are damaged, so that nothing is chosen. */
	const char *bytes;
	uint32_t size;
};

static struct rules all[CHANNELS];

/* Where the parts of a rule are. */
struct rule {
	const struct rule_head *head;
	const char *patterns;
	const struct instruction *code;
	const char *text;
};

/* Find the parts of the rule at a place; false when they are not all inside. */
static bool take_apart(const struct rules *rules, uint32_t place, struct rule *rule)
{
	const uint64_t rest = rules->size - place;
	const struct rule_head *head = (const void *) (rules->bytes + place);
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

static bool is_whole(const struct rules *rules)
{
	const struct rules_head *head = (const void *) rules->bytes;
	uint32_t place = sizeof(*head);
	struct rule rule;

	if (memcmp(head->magic, RULES_MAGIC, sizeof(head->magic)) != 0 ||
	    head->size != rules->size || head->rule_count > MOST_RULES)
		return false;
	for (uint32_t count = 0; count < head->rule_count; count++) {
		if (!take_apart(rules, place, &rule))
			return false;
		place += rule.head->size;
	}
	return place == rules->size;
}

void rules_set(uint32_t channel, const char *bytes, uint64_t size)
{
	struct rules *rules = &all[channel];

	rules->are_there = bytes;
	rules->bytes = NULL;
	if (!bytes || size < sizeof(struct rules_head) || size > LARGEST_RULES)
		return;
	rules->bytes = bytes;
	rules->size = (uint32_t) size;
	if (!is_whole(rules))
		rules->bytes = NULL;
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

bool rules_choose(uint32_t channel, const struct vestige_provider *provider,
		  const struct vestige_event *event, const void **filter)
{
	const struct rules *rules = &all[channel];
	const struct expression *expressions = NULL;
	uint32_t place = sizeof(struct rules_head);
	char name[FULL_NAME_SIZE];
	struct rule rule;

	*filter = NULL;
	if (!rules->are_there)
		return true;
	if (!rules->bytes)
		return false;
	snprintf(name, sizeof(name), "%s:%s", provider->name, event->name);
	for (; place < rules->size && take_apart(rules, place, &rule); place += rule.head->size) {
		if (event->log_level < rule.head->first_level ||
		    event->log_level > rule.head->last_level || !takes_name(&rule, name))
			continue;
		/* One that takes all of them: no filter needs to run. */
		if (!rule.head->instruction_count)
			return true;
		expressions = expression_add(expressions, event->event_class, rule.code,
					     rule.head->instruction_count, rule.text,
					     rule.head->text_size);
	}
	*filter = expressions;
	return expressions != NULL;
}
