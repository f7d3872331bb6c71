/* Tracepoints of programs: include/vestige/tracepoint-abi.h has what both sides share. */
#ifndef VESTIGE_TRACEPOINT_H
#define VESTIGE_TRACEPOINT_H

#include "../include/vestige/tracepoint-abi.h"

extern const struct vestige_tracer vestige_tracer;

/* In a child process, in the only thread that it has. */
void tracepoint_after_fork(void) __attribute__((visibility("hidden")));

#endif
