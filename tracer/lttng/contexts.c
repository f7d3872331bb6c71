/*
 * Contexts that programs register with LTTng-UST.
 *
 * A provider has all contexts with its name before the colon, and tells which one it is asked for
 * by a structure with the name of that.
 */
#include "contexts.h"

#include <stdio.h>
#include <string.h>

#include "../base/system.h"
#include "../objects/kept_pages.h"
#include "../stream/application.h"
#include "../stream/passage.h"

#define MOST_PROVIDERS 16u
/* How often to look for threads without a data stream: 2 s in steps of 1 ms. */
#define MOST_LOOKS 2000u

struct provider {
	struct application_source source;
	char name[LONGEST_APPLICATION_NAME + 1];
	const struct ust_context_provider *from;
};

static struct provider providers[MOST_PROVIDERS];

/* Of a field that is one type or another. */
static const struct ust_type dynamic = {UST_DYNAMIC, sizeof(dynamic)};

static void ask(const void *data, const char *name, struct application_value *to)
{
	const struct ust_context_provider *from = data;
	const struct ust_field field = {
		.struct_size = sizeof(field),
		.name = name,
		.type = &dynamic,
	};
	const struct ust_application_context which = {sizeof(which), &field, name};
	struct ust_place place = {sizeof(place), NULL};
	struct ust_context_value value = {0};

	from->get_value(&which, &place, &value);
	/* In the order of enum application_type. */
	to->type = (enum application_type) value.type;
	memcpy(&to->as, &value.as, sizeof(to->as));
}

static bool is_sound(const struct ust_context_provider *from)
{
	return from && from->struct_size >= sizeof(*from) && from->name && from->get_value &&
		strnlen(from->name, LONGEST_APPLICATION_NAME) < LONGEST_APPLICATION_NAME &&
		!strncmp(from->name, APPLICATION_PREFIX, strlen(APPLICATION_PREFIX)) &&
		!strchr(from->name, ':');
}

void *contexts_add(const struct ust_context_provider *from)
{
	struct provider *provider = providers;

	while (provider < providers + MOST_PROVIDERS && provider->from)
		provider++;
	if (provider == providers + MOST_PROVIDERS || !is_sound(from))
		return NULL;
	snprintf(provider->name, sizeof(provider->name), "%s", from->name);
	provider->source = (struct application_source) {provider->name, ask, from};
	if (!application_add(&provider->source))
		return NULL;
	provider->from = from;
	return provider;
}

/* Programs may give back what they never got. */
static struct provider *find(void *added)
{
	for (unsigned int index = 0; index < MOST_PROVIDERS; index++)
		if (added == &providers[index] && providers[index].from)
			return &providers[index];
	return NULL;
}

void contexts_remove(void *added)
{
	struct provider *provider = find(added);

	if (provider)
		application_remove(&provider->source);
}

void contexts_wait(void *added)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct provider *provider = find(added);

	if (!provider)
		return;
	for (unsigned int looks = 0; looks < MOST_LOOKS && !application_is_left(); looks++)
		system_sleep(&pause);
	if (!passage_wait() || !application_is_left())
		kept_pages_copy(provider->from);
	__atomic_store_n(&provider->from, NULL, __ATOMIC_RELEASE);
}
