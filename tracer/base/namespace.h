/* Namespaces of this thread, see namespaces(7). */
#ifndef VESTIGE_BASE_NAMESPACE_H
#define VESTIGE_BASE_NAMESPACE_H

#include <stdint.h>

#include "compiler.h"

/* The inode of a namespace, by the name of its context. 0 if /proc is not mounted, the kernel has
 * no such namespaces, or the program filters its system calls: the trace says 0 then. */
uint64_t namespace_ask(const char *context) HIDDEN;

#endif
