/* The rules of channels, and what they say of events. */
#include "rules.h"

#include <stdio.h>

#include "../base/settings.h"
#include "expression_bind.h"
#include "rule_file.h"

/* Those of a channel. */
struct rules {
	/* Without any, all events are recorded. */
	bool are_there;
	struct rule_file file;
};

static struct rules all[CHANNELS];

void rules_set(uint32_t channel, const char *bytes, uint64_t size)
{
	struct rules *rules = &all[channel];

	rules->are_there = bytes;
	rule_file_set(&rules->file, bytes, bytes ? size : 0);
}

bool rules_choose(uint32_t channel, const struct vestige_provider *provider,
		  const struct vestige_event *event, const void **filter)
{
	const struct rules *rules = &all[channel];
	const struct expression *expressions = NULL;
	char name[FULL_NAME_SIZE];
	uint32_t place = 0;
	struct rule rule;

	*filter = NULL;
	if (!rules->are_there)
		return true;
	snprintf(name, sizeof(name), "%s:%s", provider->name, event->name);
	while (rule_file_next(&rules->file, &place, &rule)) {
		if (!rule_takes(&rule, name, event->log_level))
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
