/*
 * The passes over a provider header that make its probes and descriptions.
 *
 * SPDX-License-Identifier: MIT
 */
#include <vestige/fields.h>
#include <vestige/write-fields.h>

#ifndef VESTIGE_CREATE_PROBES_H
#define VESTIGE_CREATE_PROBES_H

/* The list ends with a NULL. */
static inline __attribute__((unused)) VESTIGE_NOT_TRACED struct vestige_event *
vestige_find_event(struct vestige_event *const *events, const char *name)
{
	while (*events && strcmp((*events)->name, name) != 0)
		events++;
	return *events;
}
#endif

/* --- all macros do nothing, except those that a pass gives a meaning --- */

#undef LTTNG_UST_TRACEPOINT_EVENT
#define LTTNG_UST_TRACEPOINT_EVENT(provider, name, arguments, fields)		\
	LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, arguments, VESTIGE_UNWRAP(fields)) \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(provider, name, provider, name, arguments)
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, arguments, fields)
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, arguments)

/* --- the labels of enumerations --- */

#undef LTTNG_UST_TRACEPOINT_ENUM
#define LTTNG_UST_TRACEPOINT_ENUM(provider, name, values)				\
	static const struct vestige_label vestige_labels_##provider##___##name[] = {	\
		values {(const char *) 0, 0, 0, 0}					\
	};										\
	static const struct vestige_enum vestige_enum_##provider##___##name		\
		__attribute__((unused)) = {						\
		#provider, #name, vestige_labels_##provider##___##name,			\
		sizeof(vestige_labels_##provider##___##name) /				\
			sizeof(vestige_labels_##provider##___##name[0]) - 1,		\
	};
#include LTTNG_UST_TRACEPOINT_INCLUDE
#undef LTTNG_UST_TRACEPOINT_ENUM
#define LTTNG_UST_TRACEPOINT_ENUM(provider, name, values)

/* --- what the fields are --- */

#include <vestige/describe-fields.h>
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, arguments, fields)		\
	static const struct vestige_field vestige_fields_##provider##___##name[] = {	\
		fields {(const char *) 0, 0, 0, 0, 0, 0, (const struct vestige_enum *) 0}	\
	};										\
	enum {										\
		vestige_count_##provider##___##name =					\
			sizeof(vestige_fields_##provider##___##name) /			\
			sizeof(vestige_fields_##provider##___##name[0]) - 1		\
	};
#include LTTNG_UST_TRACEPOINT_INCLUDE

/* --- how many bytes they take --- */

#include <vestige/measure-fields.h>
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, arguments, fields)		\
	VESTIGE_MEASURE(provider, name, VESTIGE_TYPED arguments, VESTIGE_USED arguments,\
			VESTIGE_UNWRAP(fields))
#define VESTIGE_MEASURE(provider, name, typed, used, fields)				\
	VESTIGE_INLINE size_t vestige_measure_##provider##___##name(			\
		size_t *vestige_lengths_ typed)						\
	{										\
		size_t vestige_size_ = 0;						\
											\
		(void) vestige_lengths_;						\
		used fields								\
		return vestige_size_;							\
	}
#include LTTNG_UST_TRACEPOINT_INCLUDE

/* --- what a filter sees --- */

#include <vestige/value-fields.h>
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, arguments, fields)		\
	VESTIGE_EVALUATE(provider, name, VESTIGE_TYPED arguments, VESTIGE_NAMES arguments,\
			 VESTIGE_USED arguments, VESTIGE_UNWRAP(fields))
#define VESTIGE_EVALUATE(provider, name, typed, names, used, fields)			\
	static __attribute__((noinline, unused)) VESTIGE_NOT_TRACED			\
	int vestige_passes_##provider##___##name(					\
		const struct vestige_tracer *vestige_tracer_,				\
		const struct vestige_event *vestige_event_, const void *vestige_ip_ typed)\
	{										\
		struct vestige_value vestige_values_[vestige_count_##provider##___##name + 1];\
		struct vestige_value *vestige_value_ = vestige_values_;			\
											\
		vestige_values_[vestige_count_##provider##___##name].length = 0;	\
		(void) vestige_value_;							\
		used fields								\
		return vestige_tracer_->passes(vestige_event_, vestige_values_, vestige_ip_);\
	}
#include LTTNG_UST_TRACEPOINT_INCLUDE

/* --- the probes --- */

static const struct vestige_tracer *
	VESTIGE_JOIN(vestige_tracer_of_, LTTNG_UST_TRACEPOINT_PROVIDER);

/* Where the event happened: the argument of this name, in a library that stands in for
 * another one. */
#ifdef LTTNG_UST_TP_IP_PARAM
#define VESTIGE_PLACE (const void *) (LTTNG_UST_TP_IP_PARAM)
#else
/* In the call, not behind it: that may be another line. */
#define VESTIGE_PLACE ((const char *) __builtin_return_address(0) - 1)
#endif

#include <vestige/write-fields.h>
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, arguments, fields)		\
	VESTIGE_PROBE(provider, name, VESTIGE_TYPED arguments, VESTIGE_NAMES arguments,	\
		      VESTIGE_USED arguments, VESTIGE_UNWRAP(fields))
#define VESTIGE_PROBE(provider, name, typed, names, used, fields)			\
	VESTIGE_INLINE void vestige_write_##provider##___##name(char *vestige_at_,	\
		const size_t *vestige_lengths_ typed)					\
	{										\
		(void) vestige_at_;							\
		(void) vestige_lengths_;						\
		used fields								\
	}										\
	static __attribute__((noinline, unused)) VESTIGE_NOT_TRACED			\
	void vestige_probe_##provider##___##name(					\
		const struct vestige_event *vestige_event_ typed)			\
	{										\
		/* Stored by a constructor, which may run while threads pass tracepoints. */	\
		const struct vestige_tracer *vestige_tracer_ =				\
			__atomic_load_n(&vestige_tracer_of_##provider, __ATOMIC_RELAXED);\
		const void *vestige_ip_ = VESTIGE_PLACE;				\
		size_t vestige_lengths_[vestige_count_##provider##___##name + 1];	\
		struct vestige_record vestige_record_;					\
											\
		if (__builtin_expect(vestige_event_->filter != (const void *) 0, 0) &&	\
		    !vestige_passes_##provider##___##name(vestige_tracer_, vestige_event_,\
							  vestige_ip_ names))		\
			return;								\
		if (!vestige_tracer_->begin(vestige_event_, &vestige_record_,		\
			vestige_measure_##provider##___##name(vestige_lengths_ names),	\
			vestige_ip_))							\
			return;								\
		vestige_write_##provider##___##name(vestige_record_.at,			\
						    vestige_lengths_ names);		\
		vestige_tracer_->commit(&vestige_record_);				\
	}										\
	static const struct vestige_event_class vestige_class_##provider##___##name = {	\
		sizeof(struct vestige_event_class),					\
		vestige_count_##provider##___##name,					\
		vestige_fields_##provider##___##name,					\
		(void (*)(void)) vestige_probe_##provider##___##name,			\
	};
#include LTTNG_UST_TRACEPOINT_INCLUDE
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, arguments, fields)

/* --- the events --- */

#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, arguments) \
	static struct vestige_event vestige_event_##provider##___##name = {		\
		sizeof(struct vestige_event), 0, #name,					\
		&vestige_class_##class_provider##___##class_name, (const char *) 0,	\
		LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE, 0, (const void *) 0,		\
	};
#include LTTNG_UST_TRACEPOINT_INCLUDE

#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, arguments)

/*
 * What follows reads the header in the bodies of functions. A list in braces would be
 * simpler; but some headers of compilers define types however often they are included, and
 * a function may hold those.
 */

enum { VESTIGE_JOIN(vestige_first_of_, LTTNG_UST_TRACEPOINT_PROVIDER) = __COUNTER__ };
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, arguments) \
	enum { vestige_number_##provider##___##name = __COUNTER__ };
#include LTTNG_UST_TRACEPOINT_INCLUDE
static struct vestige_event *VESTIGE_JOIN(vestige_events_of_, LTTNG_UST_TRACEPOINT_PROVIDER)[
	__COUNTER__ - VESTIGE_JOIN(vestige_first_of_, LTTNG_UST_TRACEPOINT_PROVIDER)];

#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, arguments) \
	*vestige_next_++ = &vestige_event_##provider##___##name;
static VESTIGE_NOT_TRACED struct vestige_event **
VESTIGE_JOIN(vestige_list_events_of_, LTTNG_UST_TRACEPOINT_PROVIDER)(
	struct vestige_event **vestige_next_)
{
#include LTTNG_UST_TRACEPOINT_INCLUDE
	return vestige_next_;
}
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, arguments)

/* --- what is said of them apart --- */

#undef LTTNG_UST_TRACEPOINT_LOGLEVEL
#define LTTNG_UST_TRACEPOINT_LOGLEVEL(provider, name, level)				\
	vestige_event_ = vestige_find_event(vestige_events_, #name);			\
	if (vestige_event_)								\
		vestige_event_->log_level = level;
#undef LTTNG_UST_TRACEPOINT_MODEL_EMF_URI
#define LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(provider, name, uri)				\
	vestige_event_ = vestige_find_event(vestige_events_, #name);			\
	if (vestige_event_)								\
		vestige_event_->model_emf_uri = uri;
static VESTIGE_NOT_TRACED void
VESTIGE_JOIN(vestige_describe_events_of_, LTTNG_UST_TRACEPOINT_PROVIDER)(
	struct vestige_event *const *vestige_events_)
{
	struct vestige_event *vestige_event_;

#include LTTNG_UST_TRACEPOINT_INCLUDE
	(void) vestige_events_;
	(void) vestige_event_;
}
#undef LTTNG_UST_TRACEPOINT_LOGLEVEL
#define LTTNG_UST_TRACEPOINT_LOGLEVEL(provider, name, level)
#undef LTTNG_UST_TRACEPOINT_MODEL_EMF_URI
#define LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(provider, name, uri)

/* --- what can be listed --- */

#include <vestige/list-events.h>

/* --- the provider --- */

#define VESTIGE_DEFINE_PROVIDER(provider)	VESTIGE_DEFINE_PROVIDER_(provider)
#define VESTIGE_DEFINE_PROVIDER_(provider)						\
	VESTIGE_BEGIN_C									\
	extern int vestige_provider_of_##provider VESTIGE_PROVIDER_VISIBILITY;		\
	int vestige_provider_of_##provider VESTIGE_PROVIDER_VISIBILITY;			\
	VESTIGE_END_C									\
	static struct vestige_provider vestige_provider_##provider = {			\
		sizeof(struct vestige_provider), 0, #provider,				\
		vestige_events_of_##provider, (struct vestige_provider *) 0,		\
	};										\
	/* A library that is needed before its constructors run calls it sooner. */	\
	VESTIGE_NOT_TRACED static void							\
	vestige_start_provider_##provider(const struct vestige_tracer *tracer)		\
	{										\
		struct vestige_event **events = vestige_events_of_##provider;		\
											\
		__atomic_store_n(&vestige_tracer_of_##provider, tracer, __ATOMIC_RELAXED);\
		if (!tracer)								\
			return;								\
		vestige_provider_##provider.event_count =				\
			(uint32_t) (vestige_list_events_of_##provider(events) - events);\
		vestige_describe_events_of_##provider(events);				\
		tracer->add_provider(&vestige_provider_##provider);			\
	}										\
	VESTIGE_AT_LOAD VESTIGE_NOT_TRACED static void					\
	vestige_add_provider_##provider(void)						\
	{										\
		static struct vestige_waiter waiter = {					\
			vestige_start_provider_##provider, (struct vestige_waiter *) 0,	\
		};									\
											\
		vestige_begin(&waiter);							\
	}										\
	VESTIGE_AT_UNLOAD VESTIGE_NOT_TRACED static void				\
	vestige_remove_provider_##provider(void)					\
	{										\
		if (vestige_tracer_of_##provider)					\
			vestige_tracer_of_##provider->remove_provider(			\
				&vestige_provider_##provider);				\
	}
VESTIGE_DEFINE_PROVIDER(LTTNG_UST_TRACEPOINT_PROVIDER)

#undef VESTIGE_MEASURE
#undef VESTIGE_EVALUATE
#undef VESTIGE_PROBE
#undef VESTIGE_PLACE
#undef VESTIGE_DEFINE_PROVIDER
#undef VESTIGE_DEFINE_PROVIDER_
