/*
 * Where archives are: see location.h. All of them are in this file system.
 *
 * SPDX-License-Identifier: MIT
 */
#include "location.h"

#include <stddef.h>

enum lttng_trace_archive_location_type
lttng_trace_archive_location_get_type(const struct lttng_trace_archive_location *location)
{
	return location && location->path ? LTTNG_TRACE_ARCHIVE_LOCATION_TYPE_LOCAL
					  : LTTNG_TRACE_ARCHIVE_LOCATION_TYPE_UNKNOWN;
}

enum lttng_trace_archive_location_status lttng_trace_archive_location_local_get_absolute_path(
	const struct lttng_trace_archive_location *location, const char **absolute_path)
{
	if (!location || !absolute_path || !location->path)
		return LTTNG_TRACE_ARCHIVE_LOCATION_STATUS_INVALID;
	*absolute_path = location->path;
	return LTTNG_TRACE_ARCHIVE_LOCATION_STATUS_OK;
}

enum lttng_trace_archive_location_status
lttng_trace_archive_location_relay_get_host(const struct lttng_trace_archive_location *location,
					    const char **relay_host)
{
	(void) location;
	(void) relay_host;
	return LTTNG_TRACE_ARCHIVE_LOCATION_STATUS_INVALID;
}

enum lttng_trace_archive_location_status lttng_trace_archive_location_relay_get_control_port(
	const struct lttng_trace_archive_location *location, uint16_t *control_port)
{
	(void) location;
	(void) control_port;
	return LTTNG_TRACE_ARCHIVE_LOCATION_STATUS_INVALID;
}

enum lttng_trace_archive_location_status lttng_trace_archive_location_relay_get_data_port(
	const struct lttng_trace_archive_location *location, uint16_t *data_port)
{
	(void) location;
	(void) data_port;
	return LTTNG_TRACE_ARCHIVE_LOCATION_STATUS_INVALID;
}

enum lttng_trace_archive_location_status lttng_trace_archive_location_relay_get_protocol_type(
	const struct lttng_trace_archive_location *location,
	enum lttng_trace_archive_location_relay_protocol_type *protocol)
{
	(void) location;
	(void) protocol;
	return LTTNG_TRACE_ARCHIVE_LOCATION_STATUS_INVALID;
}

enum lttng_trace_archive_location_status lttng_trace_archive_location_relay_get_relative_path(
	const struct lttng_trace_archive_location *location, const char **relative_path)
{
	(void) location;
	(void) relative_path;
	return LTTNG_TRACE_ARCHIVE_LOCATION_STATUS_INVALID;
}
