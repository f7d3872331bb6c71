/*
 * Evaluations of conditions, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_EVALUATION_H
#define VESTIGE_CONTROL_EVALUATION_H

#include <lttng/condition/evaluation.h>

#include "../protocol/json.h"

/* Return an evaluation, NULL if it is none or there is no memory. */
struct lttng_evaluation *control_read_evaluation(const struct json *found);

#endif
