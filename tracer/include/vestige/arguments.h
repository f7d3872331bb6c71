/*
 * The argument lists of tracepoints: up to ten pairs (type, name, type, name, ...).
 *
 * LTTNG_UST_TP_ARGS() keeps its pairs in parentheses; these take them apart. `()` and
 * `(void)` are no arguments.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_ARGUMENTS_H
#define VESTIGE_ARGUMENTS_H

#define VESTIGE_JOIN(a, b)	VESTIGE_JOIN_(a, b)
#define VESTIGE_JOIN_(a, b)	a##b
#define VESTIGE_STRING_OF(x)	VESTIGE_STRING_OF_(x)
#define VESTIGE_STRING_OF_(x)	#x
#define VESTIGE_UNWRAP(...)	__VA_ARGS__

#define VESTIGE_FIRST_TWO(a, b, ...)	a, b

/* Whether more than two words are there, of up to twelve. */
#define VESTIGE_HAS_ARGUMENTS(...) \
	VESTIGE_HAS_ARGUMENTS_(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, vestige_x_, vestige_x_)
#define VESTIGE_HAS_ARGUMENTS_(a, b, c, d, e, f, g, h, i, j, k, l, is_there, ...)	is_there

/* How many words; one for both none and `void`. */
#define VESTIGE_COUNT(...) \
	VESTIGE_COUNT_(__VA_ARGS__, 20, vestige_x_, 18, vestige_x_, 16, vestige_x_, 14, vestige_x_, 12, vestige_x_, 10, vestige_x_, 8, vestige_x_, 6, vestige_x_, 4, vestige_x_, \
		       2, 0, vestige_x_)
#define VESTIGE_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, count, ...) \
	count

/* `, type name` for each pair. */
#define VESTIGE_TYPED(...)	VESTIGE_JOIN(VESTIGE_TYPED_, VESTIGE_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define VESTIGE_TYPED_0(...)
#define VESTIGE_TYPED_2(t, n)		, t n
#define VESTIGE_TYPED_4(t, n, ...)	, t n VESTIGE_TYPED_2(__VA_ARGS__)
#define VESTIGE_TYPED_6(t, n, ...)	, t n VESTIGE_TYPED_4(__VA_ARGS__)
#define VESTIGE_TYPED_8(t, n, ...)	, t n VESTIGE_TYPED_6(__VA_ARGS__)
#define VESTIGE_TYPED_10(t, n, ...)	, t n VESTIGE_TYPED_8(__VA_ARGS__)
#define VESTIGE_TYPED_12(t, n, ...)	, t n VESTIGE_TYPED_10(__VA_ARGS__)
#define VESTIGE_TYPED_14(t, n, ...)	, t n VESTIGE_TYPED_12(__VA_ARGS__)
#define VESTIGE_TYPED_16(t, n, ...)	, t n VESTIGE_TYPED_14(__VA_ARGS__)
#define VESTIGE_TYPED_18(t, n, ...)	, t n VESTIGE_TYPED_16(__VA_ARGS__)
#define VESTIGE_TYPED_20(t, n, ...)	, t n VESTIGE_TYPED_18(__VA_ARGS__)

/* `, name` for each pair. */
#define VESTIGE_NAMES(...)	VESTIGE_JOIN(VESTIGE_NAMES_, VESTIGE_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define VESTIGE_NAMES_0(...)
#define VESTIGE_NAMES_2(t, n)		, n
#define VESTIGE_NAMES_4(t, n, ...)	, n VESTIGE_NAMES_2(__VA_ARGS__)
#define VESTIGE_NAMES_6(t, n, ...)	, n VESTIGE_NAMES_4(__VA_ARGS__)
#define VESTIGE_NAMES_8(t, n, ...)	, n VESTIGE_NAMES_6(__VA_ARGS__)
#define VESTIGE_NAMES_10(t, n, ...)	, n VESTIGE_NAMES_8(__VA_ARGS__)
#define VESTIGE_NAMES_12(t, n, ...)	, n VESTIGE_NAMES_10(__VA_ARGS__)
#define VESTIGE_NAMES_14(t, n, ...)	, n VESTIGE_NAMES_12(__VA_ARGS__)
#define VESTIGE_NAMES_16(t, n, ...)	, n VESTIGE_NAMES_14(__VA_ARGS__)
#define VESTIGE_NAMES_18(t, n, ...)	, n VESTIGE_NAMES_16(__VA_ARGS__)
#define VESTIGE_NAMES_20(t, n, ...)	, n VESTIGE_NAMES_18(__VA_ARGS__)

/* `(void) name;` for each pair: a class need not use all of its arguments. */
#define VESTIGE_USED(...)	VESTIGE_JOIN(VESTIGE_USED_, VESTIGE_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define VESTIGE_USED_0(...)
#define VESTIGE_USED_2(t, n)		(void) n;
#define VESTIGE_USED_4(t, n, ...)	(void) n; VESTIGE_USED_2(__VA_ARGS__)
#define VESTIGE_USED_6(t, n, ...)	(void) n; VESTIGE_USED_4(__VA_ARGS__)
#define VESTIGE_USED_8(t, n, ...)	(void) n; VESTIGE_USED_6(__VA_ARGS__)
#define VESTIGE_USED_10(t, n, ...)	(void) n; VESTIGE_USED_8(__VA_ARGS__)
#define VESTIGE_USED_12(t, n, ...)	(void) n; VESTIGE_USED_10(__VA_ARGS__)
#define VESTIGE_USED_14(t, n, ...)	(void) n; VESTIGE_USED_12(__VA_ARGS__)
#define VESTIGE_USED_16(t, n, ...)	(void) n; VESTIGE_USED_14(__VA_ARGS__)
#define VESTIGE_USED_18(t, n, ...)	(void) n; VESTIGE_USED_16(__VA_ARGS__)
#define VESTIGE_USED_20(t, n, ...)	(void) n; VESTIGE_USED_18(__VA_ARGS__)

#endif
