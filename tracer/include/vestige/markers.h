/*
 * Markers of SystemTap at tracepoints: for programs that define LTTNG_UST_HAVE_SDT_INTEGRATION,
 * as LTTng-UST does where it was built for it. They evaluate the arguments once more, so that a
 * program has to ask for them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_MARKERS_H
#define VESTIGE_MARKERS_H

#ifdef LTTNG_UST_HAVE_SDT_INTEGRATION
#include <sys/sdt.h>

/* The provider, the name and up to ten arguments, all in `...`. */
#define VESTIGE_MARK(...) \
	VESTIGE_JOIN(VESTIGE_MARK_, VESTIGE_HAS_ARGUMENTS(__VA_ARGS__))(__VA_ARGS__)
#define VESTIGE_MARK_0(provider, name)	STAP_PROBE(provider, name)
#define VESTIGE_MARK_1(provider, name, ...) \
	VESTIGE_JOIN(STAP_PROBE, VESTIGE_ARITY(__VA_ARGS__))(provider, name, __VA_ARGS__)
#define VESTIGE_ARITY(...)	VESTIGE_ARITY_(__VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define VESTIGE_ARITY_(a, b, c, d, e, f, g, h, i, j, count, ...)	count
#else
#define VESTIGE_MARK(...)	(void) 0
#endif

#endif
