/*
 * An event of a provider that was compiled with LTTng-UST's headers: as one of the tracer's own,
 * and with what its probe takes.
 */
#ifndef VESTIGE_LTTNG_RECORDED_H
#define VESTIGE_LTTNG_RECORDED_H

#include <stdbool.h>

#include "../include/vestige/tracepoint-abi.h"
#include "abi.h"

struct ust_recorded {
	/* For rules, filters and metadata. */
	struct vestige_event own;
	struct vestige_event_class own_class;
	/* For the probe, see ust_probe. */
	struct ust_common common;
	struct ust_recorder recorder;
	/* What a point has that only this one connects to. */
	struct ust_probe probes[2];
	const struct ust_event *from;
	/* The name of its provider. */
	const char *provider;
	/* The rules were asked; is_left_out has the answer, or that it was refused. */
	bool is_judged;
	bool is_left_out;
	/* It was told that sequences are cut, see lengths.h. */
	bool is_cut;
};

#endif
