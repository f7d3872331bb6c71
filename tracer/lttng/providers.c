#define _GNU_SOURCE
#include "providers.h"

#include <string.h>

#include "../agreement/agreement.h"
#include "../hooks/event_class.h"
#include "../rules/rules.h"
#include "describe.h"
#include "events.h"
#include "skipped.h"

#define MOST_EVENTS (1u << 16)

/* FNV-1a. */
static uint32_t hash(const char *name)
{
	uint32_t result = 0x811c9dc5u;

	for (; *name; name++)
		result = (result ^ (uint8_t) *name) * 0x01000193u;
	return result;
}

static bool make_slots(struct ust_registered *provider)
{
	const uint32_t count = provider->own.event_count;
	uint32_t slots = 4;

	while (slots < 2 * count)
		slots *= 2;
	provider->slots = pool_take(&provider->pool, slots, sizeof(*provider->slots));
	provider->slot_mask = slots - 1;
	for (uint32_t index = 0; provider->slots && index < count; index++) {
		const struct ust_recorded *event = &provider->events[index];
		uint32_t slot;

		if (event->is_left_out)
			continue;
		slot = hash(event->own.name);
		while (provider->slots[slot & provider->slot_mask])
			slot++;
		provider->slots[slot & provider->slot_mask] = index + 1;
	}
	return provider->slots != NULL;
}

/* What is wrong with a provider as a whole; NULL if nothing is. */
static const char *judge(const struct ust_provider *from)
{
	if (from->struct_size < sizeof(*from) || !describe_can_name(from->name))
		return SKIPPED_DAMAGED;
	if (from->major < UST_OLDEST_MAJOR || from->major > UST_NEWEST_MAJOR)
		return SKIPPED_MAJOR;
	if (from->event_count > MOST_EVENTS || (from->event_count && !from->events))
		return SKIPPED_DAMAGED;
	return NULL;
}

static const char *describe_events(struct ust_registered *provider)
{
	const struct ust_provider *from = provider->from;
	const struct pool *pool = &provider->pool;

	provider->events =
		pool_take(&provider->pool, from->event_count, sizeof(*provider->events));
	if (!pool->parts || !provider->events)
		return SKIPPED_MEMORY;
	for (uint32_t index = 0; index < from->event_count; index++) {
		struct ust_recorded *event = &provider->events[index];
		const struct ust_event *one = from->events[index];
		const char *wrong = SKIPPED_DAMAGED;

		if (one && one->struct_size >= sizeof(*one))
			wrong = describe_event(event, one, &provider->pool);
		event->from = one;
		event->provider = from->name;
		event->is_left_out = wrong != NULL;
		if (wrong)
			skipped_tell(wrong, from->name,
				     one && describe_can_name(one->name) ? one->name : "?");
	}
	provider->own = (struct vestige_provider) {
		.struct_size = sizeof(provider->own),
		.event_count = from->event_count,
		.name = from->name,
	};
	return make_slots(provider) ? NULL : SKIPPED_MEMORY;
}

struct ust_registered *providers_describe(const struct ust_provider *from)
{
	struct pool pool = {NULL};
	struct ust_registered *provider;
	const char *wrong = from ? judge(from) : SKIPPED_DAMAGED;

	if (wrong) {
		skipped_tell(wrong, from && describe_can_name(from->name) ? from->name : "?",
			     NULL);
		return NULL;
	}
	provider = pool_take(&pool, 1, sizeof(*provider));
	if (!provider)
		return NULL;
	provider->pool = pool;
	provider->from = from;
	wrong = describe_events(provider);
	if (!wrong)
		return provider;
	skipped_tell(wrong, from->name, NULL);
	providers_forget(provider);
	return NULL;
}

void providers_forget(struct ust_registered *provider)
{
	struct pool pool = provider->pool;

	pool_close(&pool);
}

struct ust_recorded *providers_find(struct ust_registered *provider, const char *name)
{
	for (uint32_t slot = hash(name);; slot++) {
		const uint32_t number = provider->slots[slot & provider->slot_mask];
		struct ust_recorded *event = &provider->events[number - 1];

		if (!number)
			return NULL;
		if (!strcmp(event->own.name, name))
			return providers_choose(provider, event) ? event : NULL;
	}
}

bool providers_choose(struct ust_registered *provider, struct ust_recorded *event)
{
	if (event->is_judged || event->is_left_out)
		return !event->is_left_out;
	event->is_judged = true;
	event->is_left_out = !rules_choose(0, &provider->own, &event->own, &event->own.filter);
	if (event->is_left_out)
		return false;
	if (!event_class_is_readable(&event->own_class)) {
		skipped_tell(SKIPPED_READERS, provider->own.name, event->own.name);
		event->is_left_out = true;
		return false;
	}
	/* Without an ID, as where there are too many classes, its records are counted as lost. */
	event->own.id = event_class_id(0, &provider->own, &event->own);
	if (!event->own.id)
		skipped_tell(SKIPPED_CLASS, provider->own.name, event->own.name);
	events_enable(event);
	return true;
}
