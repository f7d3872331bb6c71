/*
 * Texts of expressions: the same one has one place, so that equal expressions are the same and need
 * nothing of the rules that they were read from. What was asked for once stays.
 */
#ifndef VESTIGE_RULES_EXPRESSION_TEXTS_H
#define VESTIGE_RULES_EXPRESSION_TEXTS_H

#include <stdint.h>

#include "../base/compiler.h"

/* The place of a text; NULL when there is no memory. Called by one thread at a time. */
const char *expression_text(const char *bytes, uint32_t length) HIDDEN;

#endif
