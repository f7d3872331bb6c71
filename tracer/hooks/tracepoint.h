/* Tracepoints of programs: include/vestige/tracepoint-abi.h has what both sides share. */
#ifndef VESTIGE_HOOKS_TRACEPOINT_H
#define VESTIGE_HOOKS_TRACEPOINT_H

#include "../include/vestige/tracepoint-abi.h"

extern const struct vestige_tracer vestige_tracer;

#endif
