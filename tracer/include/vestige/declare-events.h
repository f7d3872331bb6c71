/*
 * What the macros of a provider header do where it is included plainly: they declare the
 * tracepoints, and define them after LTTNG_UST_TRACEPOINT_DEFINE.
 *
 * Included again after the passes of <lttng/tracepoint-event.h>, hence without a guard.
 *
 * SPDX-License-Identifier: MIT
 */
#undef LTTNG_UST_TRACEPOINT_EVENT
#define LTTNG_UST_TRACEPOINT_EVENT(provider, name, arguments, fields) \
	VESTIGE_PLAIN_EVENT(provider, name, arguments)

#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, arguments, fields)

#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, \
					    arguments)					\
	VESTIGE_PLAIN_EVENT(provider, name, arguments)

#undef LTTNG_UST_TRACEPOINT_LOGLEVEL
#define LTTNG_UST_TRACEPOINT_LOGLEVEL(provider, name, level)

#undef LTTNG_UST_TRACEPOINT_MODEL_EMF_URI
#define LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(provider, name, uri)

#undef LTTNG_UST_TRACEPOINT_ENUM
#define LTTNG_UST_TRACEPOINT_ENUM(provider, name, values)
