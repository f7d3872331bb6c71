/* Telling the recorder which events are not recorded, or not as a whole. */
#ifndef VESTIGE_LTTNG_SKIPPED_H
#define VESTIGE_LTTNG_SKIPPED_H

#include "../base/compiler.h"

/* Tell it of an event, or of a provider if that is NULL, and why: see agreement/skipped.py. */
void skipped_tell(const char *reason, const char *provider, const char *event) HIDDEN;

#endif
