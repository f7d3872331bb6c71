/* Running filter expressions. */
#ifndef VESTIGE_RULES_EXPRESSION_RUN_H
#define VESTIGE_RULES_EXPRESSION_RUN_H

#include "../base/compiler.h"
#include "expression.h"

/* Whether any is true for these values, one for each field. */
bool expression_passes(const struct expression *expression, const struct vestige_value *values,
		       const void *ip) HIDDEN;

#endif
