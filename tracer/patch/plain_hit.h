/*
 * Hits of probes whose values are in registers, and make a short record: nothing is read from memory,
 * and no vector register is used. To keep those takes several times as long as all else.
 */
#ifndef VESTIGE_PATCH_PLAIN_HIT_H
#define VESTIGE_PATCH_PLAIN_HIT_H

#include "probe.h"

/* Find out whether hits of an event can be recorded so, once its values are known. */
void plain_hit_prepare(struct probe_event *event) HIDDEN;
/* Record a hit; false when that does not go, and nothing has happened then. */
bool plain_hit_record(const struct probe_hit *hit) HIDDEN;

#endif
