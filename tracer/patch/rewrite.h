/* Rewriting the entries of functions. */
#ifndef VESTIGE_PATCH_REWRITE_H
#define VESTIGE_PATCH_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "plan.h"
#include "thunks.h"

/* Let the entries of a plan jump to their thunks. False, with nothing written, where a policy
 * refuses it. */
bool rewrite_entries(const struct plan *plan, const struct thunks *thunks, uintptr_t bias) HIDDEN;

#endif
