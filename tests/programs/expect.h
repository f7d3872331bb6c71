/* What programs that test units say when something is not as it should be. */
#ifndef VESTIGE_TESTS_EXPECT_H
#define VESTIGE_TESTS_EXPECT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Say what is wrong, and end with status 1. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

/* Fail unless it is so. */
#define EXPECT(condition)                                                  \
	do                                                                 \
		if (!(condition))                                          \
			fail("line %d: not so: %s", __LINE__, #condition); \
	while (0)

#endif
