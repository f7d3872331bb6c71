/*
 * Tracepoints and the providers that hold their probes, which meet here.
 *
 * Both register themselves when their objects are loaded, in any order. A tracepoint whose
 * event is recorded gets its probe; the others stay what they are: one test of a zero.
 */
#define _GNU_SOURCE
#include "tracepoint.h"

#include <errno.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/compiler.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "../objects/kept_pages.h"
#include "../objects/objects.h"
#include "../rules/watches.h"
#include "../stream/passage.h"
#include "../stream/plain_route.h"
#include "../stream/record.h"
#include "meeting.h"
#include "program_context.h"
#include "routes.h"
#include "tracing.h"

static void do_nothing(void)
{
}

/* For threads that passed a tracepoint when its provider went. */
static const struct vestige_event_class gone_class = {
	.struct_size = sizeof(gone_class),
	.probe = do_nothing,
};
static const struct vestige_event gone = {
	.struct_size = sizeof(gone),
	.name = "gone",
	.event_class = &gone_class,
};

/* Behind a lock that is on no hot path: objects are being loaded or unloaded. */
static struct vestige_tracepoint *tracepoints;
static struct vestige_provider *providers;

/* Be the only thread that uses the lists, for the time that files take. A handler that ends
 * the program has destructors run, which want the lists, too: none runs meanwhile. */
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

/* The state of its tracepoints. */
static int state_of(const struct vestige_provider *provider)
{
	return objects_are_for_good(provider) ? VESTIGE_STAYS : passage_state();
}

static void connect(struct vestige_tracepoint *point, const struct vestige_provider *provider)
{
	if (!settings.is_recording && !watches_are_there())
		return;
	for (uint32_t index = 0; index < provider->event_count; index++) {
		struct vestige_event *event = provider->events[index];

		if (strcmp(event->name, point->name) != 0)
			continue;
		if (!routes_choose(provider, event))
			return;
		/* Whoever sees the probe must see the event, and whoever sees the state both. */
		__atomic_store_n(&point->event, event, __ATOMIC_RELEASE);
		__atomic_store_n(&point->probe, event->event_class->probe, __ATOMIC_RELEASE);
		__atomic_store_n(&point->state, state_of(provider), __ATOMIC_RELEASE);
		return;
	}
}

/* Several objects may have the same provider. */
static void connect_any(struct vestige_tracepoint *point)
{
	for (const struct vestige_provider *one = providers; one && !point->state;
	     one = one->next)
		if (!strcmp(one->name, point->provider))
			connect(point, one);
}

static void add_tracepoint(struct vestige_tracepoint *point)
{
	const int saved = errno;
	bool is_known = false;
	signals before;

	tracing_start();
	if (!tracing_is_possible())
		return;
	before = enter();
	/* One that several source files share comes with each of them. */
	for (const struct vestige_tracepoint *one = tracepoints; one && !is_known;
	     one = one->next)
		is_known = one == point;
	if (!is_known) {
		point->next = tracepoints;
		tracepoints = point;
	}
	connect_any(point);
	leave(before);
	errno = saved;
}

static void remove_tracepoint(struct vestige_tracepoint *point)
{
	const signals before = enter();

	for (struct vestige_tracepoint **one = &tracepoints; *one; one = &(*one)->next) {
		if (*one != point)
			continue;
		*one = point->next;
		break;
	}
	point->state = 0;
	leave(before);
}

static void add_provider(struct vestige_provider *provider)
{
	const int saved = errno;
	bool is_known = false;
	signals before;

	tracing_start();
	if (!tracing_is_possible())
		return;
	before = enter();
	/* A helper's may come twice: when it is first needed, and when it is loaded. */
	for (const struct vestige_provider *one = providers; one && !is_known; one = one->next)
		is_known = one == provider;
	if (!is_known) {
		provider->next = providers;
		providers = provider;
	}
	for (struct vestige_tracepoint *one = tracepoints; one; one = one->next)
		if (!one->state && !strcmp(one->provider, provider->name))
			connect(one, provider);
	leave(before);
	errno = saved;
}

/* Whether the event is one of the provider's: its memory goes away with it. */
static bool has_event(const struct vestige_provider *provider, const struct vestige_event *event)
{
	for (uint32_t index = 0; index < provider->event_count; index++)
		if (provider->events[index] == event)
			return true;
	return false;
}

static void remove_provider(struct vestige_provider *provider)
{
	const int saved = errno;
	/* Another one may have to be written to the metadata. */
	const signals before = enter();

	for (struct vestige_provider **one = &providers; *one; one = &(*one)->next) {
		if (*one != provider)
			continue;
		*one = provider->next;
		break;
	}
	for (struct vestige_tracepoint *one = tracepoints; one; one = one->next) {
		if (!one->state || !has_event(provider, one->event))
			continue;
		one->state = 0;
		__atomic_store_n(&one->probe, NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&one->event, &gone, __ATOMIC_RELEASE);
		connect_any(one);
	}
	leave(before);
	/* What is here for good is not unloaded: the process ends. */
	if (state_of(provider) != VESTIGE_STAYS && !passage_wait())
		kept_pages_copy(provider);
	errno = saved;
}

_Static_assert(sizeof(struct record) <= sizeof(((struct vestige_record *) 0)->state),
	       "a record's state has room for ours");

/* Asked before the class of an event, which is one of that recording then, or none. */
static uint32_t present_recording(void)
{
	return __atomic_load_n(&settings.channels[0].recording, __ATOMIC_ACQUIRE);
}

/* Whether another recording has begun since. */
static bool is_of_other_recording(const struct record *record, uint32_t recording)
{
	return UNLIKELY((record->stream_owner ^ recording << OWNER_PROCESS_BITS) >>
			OWNER_PROCESS_BITS);
}

static APART int begin_routed(const struct vestige_event *event, struct vestige_record *record,
			      size_t size, const void *ip, uint64_t earlier)
{
	struct record *own = (struct record *) (void *) record->state;
	const struct route *route = routes_find(event);
	const uint32_t passed = route->filtered ? routes_take_passed(event, &route) : 0;

	record->at = route_begin(route, own, passed, ip, size, earlier);
	if (!record->at)
		return 0;
	return earlier && route_is_later(route, earlier) ? 2 : 1;
}

static APART int begin_otherwise(const struct vestige_event *event, struct vestige_record *record,
				 size_t size, const void *ip)
{
	struct record *own = (struct record *) (void *) record->state;
	const uint32_t recording = present_recording();
	const uint32_t class = event->id;

	if (class == EVENT_ROUTED)
		return begin_routed(event, record, size, ip, 0);
	if (UNLIKELY(!class)) {
		stream_count_lost(0);
		return 0;
	}
	if (!record_begin(own, (struct destination) {0, class}, ip, size) ||
	    is_of_other_recording(own, recording))
		return 0;
	record->at = own->at;
	return 1;
}

/* What needs a draft, as a rule. */
static APART int begin_long(const struct vestige_event *event, struct vestige_record *record,
			    size_t size, const void *ip)
{
	struct record *own = (struct record *) (void *) record->state;
	const uint32_t recording = present_recording();

	if (size <= RECORD_BYTES - USUAL_CONTEXTS_SIZE ||
	    UNLIKELY(!record_begin_usual(own, true, event->id, ip, size)))
		return begin_otherwise(event, record, size, ip);
	if (is_of_other_recording(own, recording)) {
		draft_give(own->draft, own);
		return 0;
	}
	record->at = own->at;
	return 1;
}

/* What goes to several channels, or to one that is not the first. */
static APART int begin_plain(const struct vestige_event *event, struct vestige_record *record,
			     size_t size, const void *ip)
{
	const struct route *route = routes_find(event);
	char *fields = LIKELY(route->is_plain)
		? plain_route_begin(route, (struct record *) (void *) record->state, ip, size)
		: NULL;

	if (UNLIKELY(!fields))
		return begin_routed(event, record, size, ip, 0);
	record->at = fields;
	return 1;
}

/* What goes to a channel of a session, as a rule. */
static APART int begin_for_cpu(const struct vestige_event *event, struct vestige_record *record,
			       size_t size, const void *ip)
{
	struct record *own = (struct record *) (void *) record->state;
	const uint32_t recording = present_recording();
	const uint32_t class = event->id;

	if (class == EVENT_ROUTED)
		return begin_plain(event, record, size, ip);
	if (UNLIKELY(!record_begin_for_cpu(own, class, size) ||
		     is_of_other_recording(own, recording)))
		return begin_long(event, record, size, ip);
	record->at = own->at;
	return 1;
}

static int begin(const struct vestige_event *event, struct vestige_record *record, size_t size,
		 const void *ip)
{
	struct record *own = (struct record *) (void *) record->state;
	const uint32_t recording = present_recording();

	if (UNLIKELY(!record_begin_usual(own, false, event->id, ip, size) ||
		     is_of_other_recording(own, recording)))
		return begin_for_cpu(event, record, size, ip);
	record->at = own->at;
	return 1;
}

static uint64_t now(void)
{
	return clock_read();
}

static int begin_at(const struct vestige_event *event, struct vestige_record *record, size_t size,
		    const void *ip, uint64_t time)
{
	struct record *own = (struct record *) (void *) record->state;
	const uint32_t recording = present_recording();
	const uint32_t class = event->id;

	if (class == EVENT_ROUTED)
		return begin_routed(event, record, size, ip, time ? time : 1);
	if (UNLIKELY(!class)) {
		stream_count_lost(0);
		return 0;
	}
	if (!record_begin_at(own, (struct destination) {0, class}, ip, size, time ? time : 1) ||
	    is_of_other_recording(own, recording))
		return 0;
	record->at = own->at;
	return stream_last_time(0) > time ? 2 : 1;
}

static void open_stream(void)
{
	streams_meet();
}

static void commit(struct vestige_record *record)
{
	struct record *own = (struct record *) (void *) record->state;

	if (UNLIKELY(own->class == CLASS_ROUTED))
		route_commit(own);
	else
		record_commit(own);
}

static int passes(const struct vestige_event *event, const struct vestige_value *values,
		  const void *ip)
{
	return routes_pass(event, values, ip);
}

/* Apply the rules to an event: its points are tested only if it is recorded. */
static void choose(const struct vestige_provider *provider, struct vestige_event *event)
{
	if (routes_choose(provider, event))
		return;
	for (struct vestige_tracepoint *one = tracepoints; one; one = one->next)
		if (one->event == event)
			one->state = 0;
}

/* Apply all rules to all events. */
static void choose_all(void)
{
	for (const struct vestige_provider *one = providers; one; one = one->next)
		for (uint32_t index = 0; index < one->event_count; index++)
			choose(one, one->events[index]);
	for (struct vestige_tracepoint *one = tracepoints; one; one = one->next)
		if (!one->state)
			connect_any(one);
}

void tracepoints_choose(void)
{
	const signals before = enter();

	choose_all();
	leave(before);
}

void tracepoints_change(void (*change)(void *data), void *data)
{
	const signals before = enter();

	change(data);
	choose_all();
	leave(before);
}

void tracepoints_forget(uint32_t channel)
{
	const signals before = enter();

	for (const struct vestige_provider *one = providers; one; one = one->next)
		for (uint32_t index = 0; index < one->event_count; index++)
			routes_forget(channel, one->events[index]);
	leave(before);
}

void tracepoints_each(void (*visit)(const struct vestige_provider *provider,
				    const struct vestige_event *event, void *data),
		      void *data)
{
	const signals before = enter();

	for (const struct vestige_provider *one = providers; one; one = one->next)
		for (uint32_t index = 0; index < one->event_count; index++)
			visit(one, one->events[index], data);
	leave(before);
}

static int add_context(const struct vestige_context *context)
{
	const int saved = errno;
	signals before;
	bool is_added;

	tracing_start();
	if (!tracing_is_possible())
		return 0;
	before = enter();
	is_added = program_context_add(context);
	leave(before);
	errno = saved;
	return is_added;
}

static int is_recorded(void)
{
	return settings.is_recording || meeting_is_on();
}

EXPORTED const struct vestige_tracer vestige_tracer = {
	.struct_size = sizeof(struct vestige_tracer),
	.add_tracepoint = add_tracepoint,
	.remove_tracepoint = remove_tracepoint,
	.add_provider = add_provider,
	.remove_provider = remove_provider,
	.begin = begin,
	.commit = commit,
	.passes = passes,
	.now = now,
	.begin_at = begin_at,
	.open = open_stream,
	.add_context = add_context,
	.is_recorded = is_recorded,
};
