/*
 * Places in programs where the kernel sets probes.
 *
 * Files are opened when a location is made, and closed when it is destroyed. A location takes its
 * look-up method over.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_USERSPACE_PROBE_H
#define VESTIGE_LTTNG_USERSPACE_PROBE_H

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_userspace_probe_location_lookup_method;

enum lttng_userspace_probe_location_lookup_method_type {
	LTTNG_USERSPACE_PROBE_LOCATION_LOOKUP_METHOD_TYPE_UNKNOWN = -1,
	LTTNG_USERSPACE_PROBE_LOCATION_LOOKUP_METHOD_TYPE_FUNCTION_DEFAULT = 0,
	LTTNG_USERSPACE_PROBE_LOCATION_LOOKUP_METHOD_TYPE_FUNCTION_ELF = 1,
	LTTNG_USERSPACE_PROBE_LOCATION_LOOKUP_METHOD_TYPE_TRACEPOINT_SDT = 2,
};

enum lttng_userspace_probe_location_lookup_method_type
lttng_userspace_probe_location_lookup_method_get_type(
	const struct lttng_userspace_probe_location_lookup_method *lookup_method);

void lttng_userspace_probe_location_lookup_method_destroy(
	struct lttng_userspace_probe_location_lookup_method *lookup_method);

struct lttng_userspace_probe_location_lookup_method *
lttng_userspace_probe_location_lookup_method_function_elf_create(void);

struct lttng_userspace_probe_location_lookup_method *
lttng_userspace_probe_location_lookup_method_tracepoint_sdt_create(void);

struct lttng_userspace_probe_location;

enum lttng_userspace_probe_location_status {
	LTTNG_USERSPACE_PROBE_LOCATION_STATUS_OK = 0,
	LTTNG_USERSPACE_PROBE_LOCATION_STATUS_INVALID = -1,
};

enum lttng_userspace_probe_location_type {
	LTTNG_USERSPACE_PROBE_LOCATION_TYPE_UNKNOWN = -1,
	LTTNG_USERSPACE_PROBE_LOCATION_TYPE_FUNCTION = 0,
	LTTNG_USERSPACE_PROBE_LOCATION_TYPE_TRACEPOINT = 1,
};

enum lttng_userspace_probe_location_type
lttng_userspace_probe_location_get_type(const struct lttng_userspace_probe_location *location);

void lttng_userspace_probe_location_destroy(struct lttng_userspace_probe_location *location);

enum lttng_userspace_probe_location_function_instrumentation_type {
	LTTNG_USERSPACE_PROBE_LOCATION_FUNCTION_INSTRUMENTATION_TYPE_UNKNOWN = -1,
	LTTNG_USERSPACE_PROBE_LOCATION_FUNCTION_INSTRUMENTATION_TYPE_ENTRY = 0,
};

struct lttng_userspace_probe_location *lttng_userspace_probe_location_function_create(
	const char *binary_path, const char *function_name,
	struct lttng_userspace_probe_location_lookup_method *lookup_method);

const char *lttng_userspace_probe_location_function_get_binary_path(
	const struct lttng_userspace_probe_location *location);

const char *lttng_userspace_probe_location_function_get_function_name(
	const struct lttng_userspace_probe_location *location);

int lttng_userspace_probe_location_function_get_binary_fd(
	const struct lttng_userspace_probe_location *location);

enum lttng_userspace_probe_location_function_instrumentation_type
lttng_userspace_probe_location_function_get_instrumentation_type(
	const struct lttng_userspace_probe_location *location);

enum lttng_userspace_probe_location_status
lttng_userspace_probe_location_function_set_instrumentation_type(
	const struct lttng_userspace_probe_location *location,
	enum lttng_userspace_probe_location_function_instrumentation_type instrumentation_type);

const struct lttng_userspace_probe_location_lookup_method *
lttng_userspace_probe_location_get_lookup_method(
	const struct lttng_userspace_probe_location *location);

struct lttng_userspace_probe_location *lttng_userspace_probe_location_tracepoint_create(
	const char *binary_path, const char *probe_name, const char *provider_name,
	struct lttng_userspace_probe_location_lookup_method *lookup_method);

const char *lttng_userspace_probe_location_tracepoint_get_binary_path(
	const struct lttng_userspace_probe_location *location);

const char *lttng_userspace_probe_location_tracepoint_get_probe_name(
	const struct lttng_userspace_probe_location *location);

const char *lttng_userspace_probe_location_tracepoint_get_provider_name(
	const struct lttng_userspace_probe_location *location);

int lttng_userspace_probe_location_tracepoint_get_binary_fd(
	const struct lttng_userspace_probe_location *location);

#ifdef __cplusplus
}
#endif

#endif
