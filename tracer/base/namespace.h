/* Namespaces of this thread, see namespaces(7). */
#ifndef VESTIGE_BASE_NAMESPACE_H
#define VESTIGE_BASE_NAMESPACE_H

#include <stdint.h>

#include "compiler.h"

/* The inode of a namespace, by the name of its context; 0 where it cannot be told. */
uint64_t namespace_ask(const char *context) HIDDEN;

#endif
