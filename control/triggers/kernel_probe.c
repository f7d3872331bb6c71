/*
 * Places in the kernel where probes are set.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernel_probe.h"

#include <stdlib.h>
#include <string.h>

#include "../protocol/text.h"

struct lttng_kernel_probe_location {
	enum lttng_kernel_probe_location_type type;
	char *symbol;
	/* From the symbol, or an address. */
	uint64_t number;
};

static struct lttng_kernel_probe_location *
new_location(enum lttng_kernel_probe_location_type type, const char *symbol, uint64_t number)
{
	struct lttng_kernel_probe_location *const location = calloc(1, sizeof(*location));

	if (!location)
		return NULL;
	location->type = type;
	location->number = number;
	if (control_replace(&location->symbol, symbol))
		return location;
	free(location);
	return NULL;
}

enum lttng_kernel_probe_location_type
lttng_kernel_probe_location_get_type(const struct lttng_kernel_probe_location *location)
{
	return location ? location->type : LTTNG_KERNEL_PROBE_LOCATION_TYPE_UNKNOWN;
}

void lttng_kernel_probe_location_destroy(struct lttng_kernel_probe_location *location)
{
	if (!location)
		return;
	free(location->symbol);
	free(location);
}

struct lttng_kernel_probe_location *
lttng_kernel_probe_location_symbol_create(const char *symbol_name, uint64_t offset)
{
	if (!symbol_name || !*symbol_name)
		return NULL;
	return new_location(LTTNG_KERNEL_PROBE_LOCATION_TYPE_SYMBOL_OFFSET, symbol_name, offset);
}

const char *
lttng_kernel_probe_location_symbol_get_name(const struct lttng_kernel_probe_location *location)
{
	return location ? location->symbol : NULL;
}

/* Give the number of a place of a type. */
static enum lttng_kernel_probe_location_status
get_number(const struct lttng_kernel_probe_location *location,
	   enum lttng_kernel_probe_location_type type, uint64_t *number)
{
	if (!location || !number || location->type != type)
		return LTTNG_KERNEL_PROBE_LOCATION_STATUS_INVALID;
	*number = location->number;
	return LTTNG_KERNEL_PROBE_LOCATION_STATUS_OK;
}

enum lttng_kernel_probe_location_status
lttng_kernel_probe_location_symbol_get_offset(const struct lttng_kernel_probe_location *location,
					      uint64_t *offset)
{
	return get_number(location, LTTNG_KERNEL_PROBE_LOCATION_TYPE_SYMBOL_OFFSET, offset);
}

struct lttng_kernel_probe_location *lttng_kernel_probe_location_address_create(uint64_t address)
{
	return new_location(LTTNG_KERNEL_PROBE_LOCATION_TYPE_ADDRESS, NULL, address);
}

enum lttng_kernel_probe_location_status lttng_kernel_probe_location_address_get_address(
	const struct lttng_kernel_probe_location *location, uint64_t *offset)
{
	return get_number(location, LTTNG_KERNEL_PROBE_LOCATION_TYPE_ADDRESS, offset);
}

struct lttng_kernel_probe_location *
control_copy_kernel_probe(const struct lttng_kernel_probe_location *location)
{
	return new_location(location->type, location->symbol, location->number);
}

void control_write_kernel_probe(struct request *request, const char *name,
				const struct lttng_kernel_probe_location *location)
{
	control_begin_object(request, name);
	if (location->type == LTTNG_KERNEL_PROBE_LOCATION_TYPE_ADDRESS) {
		control_write_text(request, "type", "address");
		control_write_whole(request, "address", location->number);
	} else {
		control_write_text(request, "type", "symbol");
		control_write_text(request, "name", location->symbol);
		control_write_whole(request, "offset", location->number);
	}
	control_end_object(request);
}

struct lttng_kernel_probe_location *control_read_kernel_probe(const struct json *found)
{
	const char *const type = control_text_member(found, "type");

	if (type && strcmp(type, "address") == 0)
		return lttng_kernel_probe_location_address_create(
			control_whole_member(found, "address"));
	if (type && strcmp(type, "symbol") == 0)
		return lttng_kernel_probe_location_symbol_create(
			control_text_member(found, "name"),
			control_whole_member(found, "offset"));
	return NULL;
}
