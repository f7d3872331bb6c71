/*
 * Makes the routes of events.
 *
 * They lie one after the other in memory that is never given back, so that an event refers to its
 * route by a number. Applying the same rules again makes no other route.
 */
#define _GNU_SOURCE
#include "routes.h"

#include <string.h>

#include "../base/settings.h"
#include "../base/system.h"
#include "../rules/expression_run.h"
#include "../rules/rules.h"
#include "../stream/cpu_ring.h"
#include "../stream/local.h"
#include "../stream/plain_route.h"
#include "../stream/room.h"
#include "event_class.h"
#include "telling.h"

/* Address space for routes. */
#define ROUTE_BYTES ((size_t) 64 << 20)

/* In place of a filter: there is one for each channel, or channels and rules of triggers. */
static const uint64_t filters_of_route;
char *routes_memory;
static size_t used;

static size_t size_of(uint32_t count)
{
	const size_t size = sizeof(struct route) + count * sizeof(struct address);

	return (size + ROUTE_UNIT - 1) / ROUTE_UNIT * ROUTE_UNIT;
}

static uint16_t filtered_of(const struct address *to, uint32_t count)
{
	uint32_t bits = 0;

	for (uint32_t index = 0; index < count; index++)
		bits |= (uint32_t) (to[index].filter != NULL) << index;
	return (uint16_t) bits;
}

static bool is_routed(const struct vestige_event *event)
{
	return event->id == EVENT_ROUTED;
}

static bool is_same(const struct vestige_event *event, const struct address *to, uint32_t count,
		    const struct watch_list *watches)
{
	const struct route *route;

	if (!is_routed(event))
		return false;
	route = routes_find(event);
	return route->count == count && route->watches == watches &&
		!memcmp(route->to, to, count * sizeof(*to));
}

/* The class of an event that has the same one in each recording; 0: it has not. */
static uint32_t fixed_class(const struct vestige_event *event)
{
	const struct route *route = is_routed(event) ? routes_find(event) : NULL;
	uint32_t class = event->id;

	if (route)
		class = route->count ? route->to[0].class : 0;
	return class < EVENT_CLASSES ? class : 0;
}

/* Whether an event goes to an address that has passed its filter with nothing kept. */
static bool goes_to(const struct vestige_event *event, const struct address *address)
{
	const struct route *route;

	/* Without a route, its class is that of the first channel's present recording. */
	if (!is_routed(event))
		return event->id && !address->channel;
	route = routes_find(event);
	for (uint32_t index = 0; index < route->count; index++)
		if (route->to[index].channel == address->channel &&
		    route->to[index].recording == address->recording)
			return !route->filtered || route->before & 1u << index;
	return false;
}

static uint16_t before_of(const struct vestige_event *event, const struct address *to,
			  uint32_t count)
{
	uint32_t bits = 0;

	for (uint32_t index = 0; index < count; index++)
		bits |= (uint32_t) (to[index].filter && goes_to(event, &to[index])) << index;
	return (uint16_t) bits;
}

/* Whether routes_pass() keeps which filters an event passes. */
static bool keeps_passed(const struct vestige_event *event)
{
	return is_routed(event) && routes_find(event)->filtered;
}

/* The number of a route; 0 when there is no memory. */
static uint32_t make(const struct vestige_event *event, const struct address *to, uint32_t count,
		     const struct watch_list *watches)
{
	const size_t size = size_of(count);
	struct route *route;
	uint32_t number;

	if (!routes_memory) {
		routes_memory = system_mmap(NULL, ROUTE_BYTES, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
		/* No route has the number 0. */
		used = ROUTE_UNIT;
	}
	if (!routes_memory || size > ROUTE_BYTES - used)
		return 0;
	number = (uint32_t) (used / ROUTE_UNIT);
	route = (struct route *) (void *) (routes_memory + used);
	route->count = (uint16_t) count;
	route->is_plain = plain_route_is(to, count);
	route->filtered = filtered_of(to, count);
	route->before = before_of(event, to, count);
	route->since = keeps_passed(event) ? routes_find(event)->since : number;
	route->watches = watches;
	memcpy(route->to, to, count * sizeof(*to));
	used += size;
	return number;
}

bool routes_have_always(const struct vestige_event *event)
{
	const uint32_t class = fixed_class(event);

	return class == EVENT_PYTHON_CODE || class == EVENT_PYTHON_NOT_RECORDED;
}

/* The class of an event in the present recording of a channel, as far as that is known. */
static uint32_t known_class(const struct vestige_event *event, uint32_t channel)
{
	const struct route *route;

	if (!is_routed(event))
		return channel == 0 ? event->id : 0;
	route = routes_find(event);
	for (uint32_t index = 0; index < route->count; index++)
		if (route->to[index].channel == channel &&
		    route->to[index].recording == settings.channels[channel].recording)
			return route->to[index].class;
	return 0;
}

static uint32_t find_class(uint32_t channel, const struct vestige_provider *provider,
			   const struct vestige_event *event)
{
	uint32_t class = fixed_class(event);

	if (!class)
		class = known_class(event, channel);
	/* Without one, as on a full disk, its records are counted as lost. */
	return class ? class : event_class_id(channel, provider, event);
}

/* In place of the only filter: there are several rules, or one without, or with another kind. */
static const struct expression filters_of_watches;

/*
 * In place of a filter, too: no channel records the event, but rules of triggers take it. What most
 * have, one rule whose filter consists of tests, is looked at as a filter is. The last bit of the
 * address tells that rules are meant; they are found when that filter is true.
 */
static const void *filter_of_watches(const struct watch_list *watches)
{
	const struct expression *only = watches->count == 1 ? watches->watches->filter : NULL;

	return (const char *) (only && only->tests ? only : &filters_of_watches) + 1;
}

static bool is_of_watches(const void *filter)
{
	return (uintptr_t) filter & 1;
}

static void set_filter(struct vestige_event *event, const void *filter)
{
	__atomic_store_n(&event->filter, filter, __ATOMIC_RELEASE);
}

static void set_id(struct vestige_event *event, uint32_t id)
{
	__atomic_store_n(&event->id, id, __ATOMIC_RELEASE);
}

static bool set_route(struct vestige_event *event, const struct address *to, uint32_t count,
		      const struct watch_list *watches)
{
	const void *filter = watches ? &filters_of_route : NULL;
	uint32_t number;

	if (is_same(event, to, count, watches))
		return true;
	number = make(event, to, count, watches);
	if (!number)
		return false;
	for (uint32_t index = 0; index < count; index++)
		if (to[index].filter)
			filter = &filters_of_route;
	if (watches && !count)
		filter = filter_of_watches(watches);
	__atomic_store_n(&event->route, number, __ATOMIC_RELEASE);
	/* What has passed for others must not go to the first channel. */
	set_id(event, EVENT_ROUTED);
	set_filter(event, filter);
	return true;
}

bool routes_choose(const struct vestige_provider *provider, struct vestige_event *event)
{
	struct address to[CHANNELS];
	const bool is_always = routes_have_always(event);
	const struct watch_list *watches;
	uint32_t count = 0;

	/* The gaps between members are compared, too. */
	memset(to, 0, sizeof(to));
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		struct address *address = &to[count];

		if (!settings.channels[channel].is_recording ||
		    settings.channels[channel].is_replaced ||
		    (!is_always && !rules_choose(channel, provider, event, &address->filter)))
			continue;
		address->channel = channel;
		address->recording = settings.channels[channel].recording;
		address->class = find_class(channel, provider, event);
		address->contexts = settings_contexts(&settings.channels[channel]);
		address->is_usual = route_is_usual(channel, address->class);
		address->is_of_cpus = cpu_rings_are_there(channel);
		count++;
	}
	watches = watches_choose(is_routed(event) ? routes_find(event)->watches : NULL, provider,
				 event);
	if (!count && !watches)
		return false;
	/* What has passed for others must not go to the first channel, as above. */
	if (count != 1 || watches || to[0].channel != 0 || (to[0].filter && is_routed(event)))
		return set_route(event, to, count, watches);
	set_filter(event, to[0].filter);
	set_id(event, to[0].class);
	return true;
}

void routes_forget(uint32_t channel, struct vestige_event *event)
{
	if (channel == 0 && event->id >= EVENT_CLASSES)
		__atomic_store_n(&event->id, 0, __ATOMIC_RELEASE);
}

/* The records of an event are lost. */
static APART void count_lost(const struct route *route, uint32_t bits)
{
	for (uint32_t index = 0; index < route->count; index++) {
		const uint32_t channel = route->to[index].channel;

		if (bits & 1u << index && settings.channels[channel].is_recording)
			stream_count_lost(channel);
	}
}

static void keep(struct notes *notes, const struct vestige_event *event,
		 const struct route *route, uint32_t bits)
{
	struct passed *place = &notes->passed[local_add(&notes->passed_count, 1) % MOST_PASSED];

	place->event = NULL;
	compiler_barrier();
	place->route = route;
	place->bits = bits;
	compiler_barrier();
	place->event = event;
}

/* The event may have got another route meanwhile, and other rules. */
static APART bool tell_all(const struct vestige_event *event, const struct vestige_value *values,
			   const void *ip)
{
	const struct watch_list *list = routes_find(event)->watches;

	if (list)
		telling_try(list, values, ip);
	return false;
}

/* Where a test of the only rule is not of an integer: tell if that and the rest are true. */
static APART bool tell_from(const struct vestige_event *event, const struct vestige_value *values,
			    const void *ip, const struct test *tests, unsigned int next)
{
	return expression_decide_on(tests, next, values, ip) && tell_all(event, values, ip);
}

static INLINED bool tell(const struct vestige_event *event, const struct expression *only,
			 const struct vestige_value *values, const void *ip)
{
	unsigned int next = DECIDED_TRUE;

	if (LIKELY(only->tests != NULL))
		next = expression_decide(only->tests, values);
	if (LIKELY(next == DECIDED_FALSE))
		return false;
	if (next == DECIDED_TRUE)
		return tell_all(event, values, ip);
	return tell_from(event, values, ip, only->tests, next);
}

static APART bool pass_each(const struct vestige_event *event, const struct vestige_value *values,
			    const void *ip)
{
	const struct route *route = routes_find(event);
	uint32_t bits = 0;
	bool is_any = false;

	if (route->watches)
		telling_try(route->watches, values, ip);
	for (uint32_t index = 0; index < route->count; index++) {
		const void *its = route->to[index].filter;

		if (!its || !expression_passes(its, values, ip)) {
			is_any = is_any || !its;
			continue;
		}
		bits |= 1u << index;
		is_any = true;
	}
	/* That none has passed is kept, too: nothing tells that there was a filter otherwise. */
	if (is_any && route->filtered) {
		struct notes *notes = room_notes();

		if (UNLIKELY(!notes)) {
			/* The thread has no room for anything; all that it would record is counted. */
			count_lost(route, bits | ~(uint32_t) route->filtered);
			return false;
		}
		keep(notes, event, route, bits);
	}
	return is_any;
}

/* All that it calls it ends with, so it keeps no registers. */
bool routes_pass(const struct vestige_event *event, const struct vestige_value *values,
		 const void *ip)
{
	const void *filter = __atomic_load_n(&event->filter, __ATOMIC_ACQUIRE);

	if (UNLIKELY(is_of_watches(filter)))
		return tell(event, (const void *) ((const char *) filter - 1), values, ip);
	if (UNLIKELY(filter == &filters_of_route))
		return pass_each(event, values, ip);
	return !filter || expression_passes(filter, values, ip);
}

uint32_t routes_take_passed(const struct vestige_event *event, const struct route **route)
{
	struct notes *notes = stream_memory_notes();

	/* The last one first: a handler that came between has taken its own. */
	for (uint64_t back = 1; notes && back <= MOST_PASSED; back++) {
		struct passed *place = &notes->passed[(notes->passed_count - back) % MOST_PASSED];

		/* What was kept before the event had no filters for a time is not taken any more. */
		if (place->event != event || place->route->since != (*route)->since)
			continue;
		place->event = NULL;
		*route = place->route;
		return place->bits;
	}
	return (*route)->before;
}
