/* The probes of a recording: reading and finding them. */
#ifndef VESTIGE_PATCH_PROBES_H
#define VESTIGE_PATCH_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "probe.h"

/* Read the probes that the recorder has written for the objects that are here, and offer their
 * events; whether there are any. */
bool probes_start(void) HIDDEN;
/* Find that of a function; NULL if it has none. */
const struct probe *probes_find(uintptr_t function) HIDDEN;

#endif
