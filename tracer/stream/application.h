/* Contexts that the program has registered: `$app.PROVIDER:TYPE`. */
#ifndef VESTIGE_STREAM_APPLICATION_H
#define VESTIGE_STREAM_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"

/* Add one; false when there is no room, or there is one of the name. Not for two threads at
 * once. */
bool application_add(const struct vestige_context *context) HIDDEN;
/* Find one by its name with `$app.`; negative when there is none. */
int application_find(const char *name, size_t length) HIDDEN;
/* VESTIGE_INTEGER, VESTIGE_FLOAT or VESTIGE_STRING. */
enum vestige_field_kind application_kind(unsigned int number) HIDDEN;
/* Ask the program for the value; false in a function that it calls for that. */
bool application_ask(unsigned int number, struct vestige_value *value) HIDDEN;

#endif
