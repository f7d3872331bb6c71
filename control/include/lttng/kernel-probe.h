/*
 * Places in the kernel where event rules set probes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_KERNEL_PROBE_H
#define VESTIGE_LTTNG_KERNEL_PROBE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_kernel_probe_location;

enum lttng_kernel_probe_location_status {
	LTTNG_KERNEL_PROBE_LOCATION_STATUS_OK = 0,
	LTTNG_KERNEL_PROBE_LOCATION_STATUS_INVALID = -1,
};

enum lttng_kernel_probe_location_type {
	LTTNG_KERNEL_PROBE_LOCATION_TYPE_UNKNOWN = -1,
	LTTNG_KERNEL_PROBE_LOCATION_TYPE_SYMBOL_OFFSET = 0,
	LTTNG_KERNEL_PROBE_LOCATION_TYPE_ADDRESS = 1,
};

enum lttng_kernel_probe_location_type
lttng_kernel_probe_location_get_type(const struct lttng_kernel_probe_location *location);

void lttng_kernel_probe_location_destroy(struct lttng_kernel_probe_location *location);

struct lttng_kernel_probe_location *
lttng_kernel_probe_location_symbol_create(const char *symbol_name, uint64_t offset);

const char *
lttng_kernel_probe_location_symbol_get_name(const struct lttng_kernel_probe_location *location);

enum lttng_kernel_probe_location_status
lttng_kernel_probe_location_symbol_get_offset(const struct lttng_kernel_probe_location *location,
					      uint64_t *offset);

struct lttng_kernel_probe_location *lttng_kernel_probe_location_address_create(uint64_t address);

enum lttng_kernel_probe_location_status lttng_kernel_probe_location_address_get_address(
	const struct lttng_kernel_probe_location *location, uint64_t *offset);

#ifdef __cplusplus
}
#endif

#endif
