/* Probes that a program brings by itself: a list, since hardly any program has one. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "own_probes.h"
#include "pool.h"

enum { LONGEST_NAME = 255 };

struct own_probe {
	struct own_probe *next;
	const char *provider;
	const char *event;
	const char *signature;
	/* Without a function: nobody has it, and another one with these names may. */
	struct ust_probe probe;
};

static struct own_probe *probes;
static struct pool memory;

static bool is_complete(const struct own_request *request)
{
	return request->provider && request->event && request->probe.function &&
		strnlen(request->provider, LONGEST_NAME + 1) <= LONGEST_NAME &&
		strnlen(request->event, LONGEST_NAME + 1) <= LONGEST_NAME;
}

static struct own_probe *find(const struct own_request *request)
{
	for (struct own_probe *one = probes; one; one = one->next)
		if (one->probe.function == request->probe.function &&
		    one->probe.data == request->probe.data &&
		    !strcmp(one->provider, request->provider) &&
		    !strcmp(one->event, request->event))
			return one;
	return NULL;
}

static const struct own_probe *find_of_event(const struct own_request *request)
{
	for (const struct own_probe *one = probes; one; one = one->next)
		if (one->probe.function && !strcmp(one->provider, request->provider) &&
		    !strcmp(one->event, request->event))
			return one;
	return NULL;
}

/* A program that adds and removes a probe all the time takes memory once. */
static struct own_probe *find_unused(const struct own_request *request)
{
	for (struct own_probe *one = probes; one; one = one->next)
		if (!one->probe.function && !strcmp(one->provider, request->provider) &&
		    !strcmp(one->event, request->event) &&
		    !strcmp(one->signature, request->signature))
			return one;
	return NULL;
}

static const char *copy(const char *text)
{
	const size_t size = strlen(text) + 1;
	char *const result = pool_take(&memory, size, 1);

	if (result)
		memcpy(result, text, size);
	return result;
}

static struct own_probe *make(const struct own_request *request)
{
	struct own_probe *const made = pool_take(&memory, 1, sizeof(*made));

	if (!made)
		return NULL;
	made->provider = copy(request->provider);
	made->event = copy(request->event);
	made->signature = copy(request->signature);
	if (!made->provider || !made->event || !made->signature)
		return NULL;
	made->next = probes;
	probes = made;
	return made;
}

int own_probes_add(const struct own_request *request)
{
	struct own_probe *probe;
	const struct own_probe *other;

	if (!is_complete(request) || !request->signature)
		return -EINVAL;
	/* All probes of an event take the same arguments. */
	other = find_of_event(request);
	if (other && strcmp(other->signature, request->signature) != 0)
		return -EINVAL;
	if (find(request))
		return -EEXIST;
	probe = find_unused(request);
	if (!probe)
		probe = make(request);
	if (!probe)
		return -ENOMEM;
	probe->probe = request->probe;
	return 0;
}

int own_probes_remove(const struct own_request *request)
{
	struct own_probe *probe;

	if (!is_complete(request))
		return -EINVAL;
	probe = find(request);
	/* LTTng's library does not mind when others have the event. */
	if (!probe)
		return find_of_event(request) ? 0 : -ENOENT;
	probe->probe = (struct ust_probe) {NULL, NULL};
	return 0;
}

uint32_t own_probes_copy(const struct ust_point *point, struct ust_probe *to, uint32_t room)
{
	uint32_t count = 0;

	for (const struct own_probe *one = probes; one; one = one->next) {
		if (!one->probe.function || strcmp(one->provider, point->provider) ||
		    strcmp(one->event, point->name) || strcmp(one->signature, point->signature))
			continue;
		if (count < room)
			to[count] = one->probe;
		count++;
	}
	return count;
}
