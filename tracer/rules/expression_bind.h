/* Checking byte code for one event class. */
#ifndef VESTIGE_RULES_EXPRESSION_BIND_H
#define VESTIGE_RULES_EXPRESSION_BIND_H

#include "../base/compiler.h"
#include "expression.h"

/*
 * Check an expression for the events of a class and put it before others; returns the
 * others alone when it is never true. Nothing is ever freed: what was made for a plugin is
 * found again when the plugin is. Not for two threads at once.
 */
const struct expression *expression_add(const struct expression *others,
					const struct vestige_event_class *event_class,
					const struct instruction *code, uint32_t count,
					const char *text, uint32_t text_size) HIDDEN;

#endif
