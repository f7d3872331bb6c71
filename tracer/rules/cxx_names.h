/* The names of C++ functions, as patterns see them. */
#ifndef VESTIGE_RULES_CXX_NAMES_H
#define VESTIGE_RULES_CXX_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/compiler.h"

/*
 * Write the qualified name of a mangled function, without template arguments and parameters:
 * `ns::Class::method`. Allocates nothing.
 *
 * False for what is no mangled name, or too long, or has expressions in its types.
 */
bool cxx_name(const char *mangled, char *name, size_t size) HIDDEN;

#endif
