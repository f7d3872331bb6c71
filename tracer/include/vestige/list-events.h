/*
 * A pass over a provider header that describes its events as text, in a section of its own:
 * `vestige list` finds them in a program without running it, and in a stripped one.
 *
 * Each text ends with a zero. Its first line has a kind and names, separated by tabs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <vestige/list-fields.h>

#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, arguments, fields)		\
	VESTIGE_LISTED(class_##provider##___##name,					\
		       "class\t" #provider "\t" #name VESTIGE_UNWRAP(fields))
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, arguments) \
	VESTIGE_LISTED(event_##provider##___##name,					\
		       "event\t" #provider "\t" #name "\t" #class_provider "\t" #class_name)
#undef LTTNG_UST_TRACEPOINT_LOGLEVEL
#define LTTNG_UST_TRACEPOINT_LOGLEVEL(provider, name, level)				\
	VESTIGE_LISTED(level_##provider##___##name,					\
		       "level\t" #provider "\t" #name "\t" VESTIGE_STRING_OF(level))
#undef LTTNG_UST_TRACEPOINT_MODEL_EMF_URI
#define LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(provider, name, uri)				\
	VESTIGE_LISTED(uri_##provider##___##name, "uri\t" #provider "\t" #name "\t" uri)

#include LTTNG_UST_TRACEPOINT_INCLUDE

#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, arguments, fields)
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, arguments)
#undef LTTNG_UST_TRACEPOINT_LOGLEVEL
#define LTTNG_UST_TRACEPOINT_LOGLEVEL(provider, name, level)
#undef LTTNG_UST_TRACEPOINT_MODEL_EMF_URI
#define LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(provider, name, uri)
