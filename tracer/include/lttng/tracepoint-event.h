/*
 * The end of each provider header. After LTTNG_UST_TRACEPOINT_CREATE_PROBES it makes the
 * probes: the header is read several times, each time with other macros.
 *
 * SPDX-License-Identifier: MIT
 */
#if LTTNG_UST_COMPAT_API(0)
#if defined(TRACEPOINT_CREATE_PROBES) && !defined(LTTNG_UST_TRACEPOINT_CREATE_PROBES)
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#endif
#if defined(TRACEPOINT_INCLUDE) && !defined(LTTNG_UST_TRACEPOINT_INCLUDE)
#define LTTNG_UST_TRACEPOINT_INCLUDE TRACEPOINT_INCLUDE
#endif
#if defined(TRACEPOINT_PROVIDER) && !defined(LTTNG_UST_TRACEPOINT_PROVIDER)
#define LTTNG_UST_TRACEPOINT_PROVIDER TRACEPOINT_PROVIDER
#endif
#endif

#ifdef LTTNG_UST_TRACEPOINT_CREATE_PROBES
#undef LTTNG_UST_TRACEPOINT_CREATE_PROBES
#undef TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define TRACEPOINT_HEADER_MULTI_READ

#include <vestige/create-probes.h>

#undef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#undef TRACEPOINT_HEADER_MULTI_READ
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#undef TRACEPOINT_INCLUDE
#include <vestige/declare-events.h>
/* For the next provider header of the package. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#endif
