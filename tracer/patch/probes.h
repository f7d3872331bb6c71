/* The probes of a recording: reading and finding them. */
#ifndef VESTIGE_PATCH_PROBES_H
#define VESTIGE_PATCH_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "probe.h"

struct dl_phdr_info;

/* Read the probes that the recorder has written for the objects that are here, and offer their
 * events; whether the recording has any, be it of objects that come later. */
bool probes_start(void) HIDDEN;
/* Take the probes that came with the plan of an object, of whose code nothing has run; false if they
 * cannot be read. */
bool probes_load(const struct dl_phdr_info *info, const char *bytes, size_t size) HIDDEN;
/* Find that of a function; NULL if it has none. */
const struct probe *probes_find(uintptr_t function) HIDDEN;

#endif
