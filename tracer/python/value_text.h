/* Texts of values, for people (value_text.c). None of the program's code runs for them. */
#ifndef VESTIGE_PYTHON_VALUE_TEXT_H
#define VESTIGE_PYTHON_VALUE_TEXT_H

#include "native.h"

/* Bytes of the longest text of a value. */
#define VALUE_TEXT_SIZE 64u

/* A text that grows up to its end. What does not fit is left out as a whole. */
struct text {
	char *at;
	const char *end;
};

bool text_add(struct text *text, const char *bytes, size_t size);
void value_text_start(void);
/* Write a value of up to VALUE_TEXT_SIZE bytes; false when it does not fit. It may leave an
 * exception, and none that was set before. */
bool text_add_value(struct text *text, PyObject *object);
/* The name of a type, without its module. */
bool text_add_type(struct text *text, PyObject *type);

#endif
