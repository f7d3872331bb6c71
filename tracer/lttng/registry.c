/*
 * Tracepoints and providers of LTTng-UST, which meet here.
 *
 * Both are registered when their objects are loaded, in any order. A point gets the probes of all
 * providers that have its event: when an object is loaded twice, its events are there twice.
 * Points change while other threads pass them, so probes are complete before a point has them,
 * and stay until no thread is in one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "../agreement/agreement.h"
#include "../base/compiler.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "../hooks/tracing.h"
#include "../objects/kept_pages.h"
#include "../objects/objects.h"
#include "../stream/passage.h"
#include "../stream/stream.h"
#include "contexts.h"
#include "interface.h"
#include "own_probes.h"
#include "printf_events.h"
#include "providers.h"
#include "skipped.h"

/* The points of an object. */
struct object {
	struct object *next;
	/* NULL: another object may have the place. */
	struct ust_point *const *points;
	uint32_t count;
};

static struct object *objects;
static struct ust_registered *providers;
/* Of objects, and of the probes of points with several: who passes them may read them for
 * ever. */
static struct pool memory;

/* Be the only thread that changes points; no handler runs meanwhile, which might end the program
 * and have its destructors want to change them, too. */
static signals enter(void)
{
	const signals before = system_block_signals();

	process_lock_tracepoints();
	return before;
}

static void leave(signals before)
{
	process_unlock_tracepoints();
	system_restore_signals(before);
}

static bool is_usable(const struct ust_point *point)
{
	return point && point->struct_size >= sizeof(*point) && point->provider && point->name &&
		point->signature;
}

/* The event of a provider that a point has, if it takes the arguments that the point gives. */
static struct ust_recorded *find_event(struct ust_registered *provider,
				       const struct ust_point *point)
{
	struct ust_recorded *event;

	if (strcmp(provider->own.name, point->provider) != 0)
		return NULL;
	event = providers_find(provider, point->name);
	if (!event || !strcmp(event->from->event_class->signature, point->signature))
		return event;
	skipped_tell(SKIPPED_SIGNATURE, point->provider, point->name);
	return NULL;
}

/* The probes of a point with several events, or with probes of the program. */
static struct ust_probe *several_probes(const struct ust_point *point, uint32_t count)
{
	struct ust_probe *probes = pool_take(&memory, count + 1, sizeof(*probes));
	uint32_t used = 0;

	for (struct ust_registered *one = providers; probes && one; one = one->next) {
		const struct ust_recorded *event = find_event(one, point);

		if (event)
			probes[used++] = event->probes[0];
	}
	if (probes)
		own_probes_copy(point, probes + used, count - used);
	return probes;
}

/* Whoever sees the probes must see what is in them. The points of lttng_ust_tracef() and
 * lttng_ust_tracelog() need none: they only say whether to call the library. */
static void set_probes(struct ust_point *point, struct ust_probe *probes)
{
	const bool is_on = probes || printf_events_take(point->provider, point->name);

	if (!is_on)
		__atomic_store_n(&point->state, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&point->probes, probes, __ATOMIC_RELEASE);
	if (is_on)
		__atomic_store_n(&point->state, 1, __ATOMIC_RELEASE);
}

static void connect(struct ust_point *point)
{
	struct ust_probe *probes = NULL;
	uint32_t count = 0;
	const uint32_t own = own_probes_copy(point, NULL, 0);

	for (struct ust_registered *one = providers; one; one = one->next) {
		struct ust_recorded *event = find_event(one, point);

		if (event && !count++)
			probes = event->probes;
	}
	if (own || count > 1)
		probes = several_probes(point, count + own);
	set_probes(point, probes);
}

static void connect_all(const char *provider)
{
	for (const struct object *object = objects; object; object = object->next)
		for (uint32_t index = 0; object->points && index < object->count; index++) {
			struct ust_point *point = object->points[index];

			if (is_usable(point) && !strcmp(point->provider, provider))
				connect(point);
		}
}

static void *add_provider(const struct ust_provider *from)
{
	const int saved = errno;
	struct ust_registered *provider;
	signals before;

	tracing_start();
	if (!settings.is_recording)
		return NULL;
	before = enter();
	provider = providers_describe(from);
	if (provider) {
		provider->next = providers;
		providers = provider;
		connect_all(provider->own.name);
	}
	leave(before);
	errno = saved;
	return provider;
}

static void remove_provider(void *added)
{
	const int saved = errno;
	struct ust_registered *provider = added;
	signals before;

	if (!provider)
		return;
	before = enter();
	for (struct ust_registered **one = &providers; *one; one = &(*one)->next) {
		if (*one != provider)
			continue;
		*one = provider->next;
		break;
	}
	connect_all(provider->own.name);
	leave(before);
	/* What is here for good is not unloaded: the process ends. */
	if (!objects_are_for_good(provider->from)) {
		if (passage_wait())
			providers_forget(provider);
		else
			kept_pages_copy(provider->from);
	}
	errno = saved;
}

static int add_probe(const struct own_request *request)
{
	const int saved = errno;
	signals before;
	int result;

	tracing_start();
	/* Nobody would call it: points are not known. */
	if (!settings.is_recording)
		return -ENOSYS;
	before = enter();
	result = own_probes_add(request);
	if (!result)
		connect_all(request->provider);
	leave(before);
	errno = saved;
	return result;
}

static int remove_probe(const struct own_request *request)
{
	const int saved = errno;
	const signals before = enter();
	const int result = own_probes_remove(request);

	if (!result)
		connect_all(request->provider);
	leave(before);
	/* The program may unload it now. */
	if (!result)
		passage_wait();
	errno = saved;
	return result;
}

static struct object *free_object(void)
{
	struct object *object = objects;

	while (object && object->points)
		object = object->next;
	if (object)
		return object;
	object = pool_take(&memory, 1, sizeof(*object));
	if (object) {
		object->next = objects;
		objects = object;
	}
	return object;
}

static void add_points(struct ust_point *const *points, int count)
{
	const int saved = errno;
	struct object *object;
	signals before;

	tracing_start();
	if (!settings.is_recording || !points || count <= 0)
		return;
	printf_events_start();
	before = enter();
	object = free_object();
	if (object) {
		object->points = points;
		object->count = (uint32_t) count;
		for (int index = 0; index < count; index++)
			/* Linkers may leave gaps. */
			if (is_usable(points[index]))
				connect(points[index]);
	}
	leave(before);
	errno = saved;
}

/* Objects that have the same tracepoint may share one point. */
static bool is_anywhere(const struct ust_point *point)
{
	for (const struct object *object = objects; object; object = object->next)
		for (uint32_t index = 0; object->points && index < object->count; index++)
			if (object->points[index] == point)
				return true;
	return false;
}

static void remove_points(struct ust_point *const *points)
{
	const int saved = errno;
	const signals before = enter();

	for (struct object *object = objects; object; object = object->next) {
		if (!points || object->points != points)
			continue;
		object->points = NULL;
		for (uint32_t index = 0; index < object->count; index++)
			if (is_usable(points[index]) && !is_anywhere(points[index]))
				set_probes(points[index], NULL);
		break;
	}
	leave(before);
	errno = saved;
}

static void *add_beside(const struct ust_provider *from, ust_connect_function *connect_event)
{
	const int saved = errno;
	struct ust_registered *provider;
	signals before;

	tracing_start();
	if (!settings.is_recording)
		return NULL;
	before = enter();
	provider = providers_describe(from);
	for (uint32_t index = 0; provider && index < provider->own.event_count; index++)
		providers_choose(provider, &provider->events[index]);
	leave(before);
	/* Others have locks of their own. */
	for (uint32_t index = 0; provider && index < provider->own.event_count; index++)
		if (!provider->events[index].is_left_out)
			connect_event(from, provider->events[index].from,
				      &provider->events[index].common);
	errno = saved;
	return provider;
}

static void remove_beside(void *added, ust_connect_function *disconnect_event)
{
	struct ust_registered *provider = added;

	for (uint32_t index = 0; provider && index < provider->own.event_count; index++)
		if (!provider->events[index].is_left_out)
			disconnect_event(provider->from, provider->events[index].from,
					 &provider->events[index].common);
}

static bool is_recording(void)
{
	tracing_start();
	return settings.is_recording;
}

static void *add_contexts(const struct ust_context_provider *from)
{
	const int saved = errno;
	signals before;
	void *added;

	if (!is_recording())
		return NULL;
	before = enter();
	added = contexts_add(from);
	leave(before);
	errno = saved;
	return added;
}

static void remove_contexts(void *added)
{
	const int saved = errno;
	const signals before = enter();

	contexts_remove(added);
	leave(before);
	contexts_wait(added);
	errno = saved;
}

static void read_name(void)
{
	char name[PROCNAME_SIZE + 1] = "";

	process_thread_name(name);
	stream_rename(name);
}

EXPORTED const struct vestige_lttng vestige_lttng = {
	.add_provider = add_provider,
	.remove_provider = remove_provider,
	.add_points = add_points,
	.remove_points = remove_points,
	.add_probe = add_probe,
	.remove_probe = remove_probe,
	.add_beside = add_beside,
	.remove_beside = remove_beside,
	.nesting = passage_nesting,
	.wait = passage_wait,
	.wait_also = passage_wait_also,
	.is_fenced = passage_is_fenced,
	.add_contexts = add_contexts,
	.remove_contexts = remove_contexts,
	.is_recording = is_recording,
	.read_name = read_name,
};
