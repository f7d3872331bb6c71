/* What the programs of the control library's tests share: each line says what was not as expected. */
#ifndef CONTROL_CHECKS_H
#define CONTROL_CHECKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

static int failures;

#define CHECK(condition)                                                                          \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);           \
			failures++;                                                               \
		}                                                                                 \
	} while (0)

/* A code that is expected; it is told which one came. */
#define CHECK_CODE(expression, wanted)                                                            \
	do {                                                                                      \
		const long code_ = (long) (expression);                                           \
		if (code_ != (long) (wanted)) {                                                   \
			fprintf(stderr, "%s:%d: %s is %ld (%s), not %ld\n", __FILE__, __LINE__,   \
				#expression, code_, lttng_strerror((int) code_), (long) (wanted)); \
			failures++;                                                               \
		}                                                                                 \
	} while (0)

#define CHECK_TEXT(expression, wanted)                                                            \
	do {                                                                                      \
		const char *const text_ = (expression);                                           \
		if (!text_ || strcmp(text_, wanted) != 0) {                                       \
			fprintf(stderr, "%s:%d: %s is '%s', not '%s'\n", __FILE__, __LINE__,      \
				#expression, text_ ? text_ : "(none)", wanted);                   \
			failures++;                                                               \
		}                                                                                 \
	} while (0)

#endif
