/*
 * Places in programs where the kernel sets probes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "program_probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../protocol/text.h"

struct lttng_userspace_probe_location_lookup_method {
	enum lttng_userspace_probe_location_lookup_method_type type;
};

struct lttng_userspace_probe_location {
	enum lttng_userspace_probe_location_type type;
	char *path;
	/* That of a tracepoint. */
	char *provider;
	/* Of the function or the tracepoint. */
	char *name;
	/* The file; -1 if it was not opened. */
	int file;
	struct lttng_userspace_probe_location_lookup_method *method;
};

static struct lttng_userspace_probe_location_lookup_method *
new_method(enum lttng_userspace_probe_location_lookup_method_type type)
{
	struct lttng_userspace_probe_location_lookup_method *const method =
		malloc(sizeof(*method));

	if (method)
		method->type = type;
	return method;
}

enum lttng_userspace_probe_location_lookup_method_type
lttng_userspace_probe_location_lookup_method_get_type(
	const struct lttng_userspace_probe_location_lookup_method *lookup_method)
{
	return lookup_method ? lookup_method->type
			     : LTTNG_USERSPACE_PROBE_LOCATION_LOOKUP_METHOD_TYPE_UNKNOWN;
}

void lttng_userspace_probe_location_lookup_method_destroy(
	struct lttng_userspace_probe_location_lookup_method *lookup_method)
{
	free(lookup_method);
}

struct lttng_userspace_probe_location_lookup_method *
lttng_userspace_probe_location_lookup_method_function_elf_create(void)
{
	return new_method(LTTNG_USERSPACE_PROBE_LOCATION_LOOKUP_METHOD_TYPE_FUNCTION_ELF);
}

struct lttng_userspace_probe_location_lookup_method *
lttng_userspace_probe_location_lookup_method_tracepoint_sdt_create(void)
{
	return new_method(LTTNG_USERSPACE_PROBE_LOCATION_LOOKUP_METHOD_TYPE_TRACEPOINT_SDT);
}

/* Return a place in a file that is not opened; NULL without memory. */
static struct lttng_userspace_probe_location *
new_location(enum lttng_userspace_probe_location_type type, const char *path,
	     const char *provider, const char *name)
{
	struct lttng_userspace_probe_location *const location = calloc(1, sizeof(*location));

	if (!location)
		return NULL;
	location->type = type;
	location->file = -1;
	if (control_replace(&location->path, path) &&
	    control_replace(&location->provider, provider) &&
	    control_replace(&location->name, name))
		return location;
	lttng_userspace_probe_location_destroy(location);
	return NULL;
}

/* Open the file, and take over the method; return NULL, and take nothing, if that fails. */
static struct lttng_userspace_probe_location *
complete(struct lttng_userspace_probe_location *location,
	 struct lttng_userspace_probe_location_lookup_method *method)
{
	if (!location)
		return NULL;
	location->file = open(location->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (location->file < 0) {
		lttng_userspace_probe_location_destroy(location);
		return NULL;
	}
	location->method = method;
	return location;
}

enum lttng_userspace_probe_location_type
lttng_userspace_probe_location_get_type(const struct lttng_userspace_probe_location *location)
{
	return location ? location->type : LTTNG_USERSPACE_PROBE_LOCATION_TYPE_UNKNOWN;
}

void lttng_userspace_probe_location_destroy(struct lttng_userspace_probe_location *location)
{
	if (!location)
		return;
	if (location->file >= 0)
		close(location->file);
	free(location->path);
	free(location->provider);
	free(location->name);
	free(location->method);
	free(location);
}

static enum lttng_userspace_probe_location_lookup_method_type
method_type(const struct lttng_userspace_probe_location_lookup_method *method)
{
	return method ? method->type
		      : LTTNG_USERSPACE_PROBE_LOCATION_LOOKUP_METHOD_TYPE_FUNCTION_DEFAULT;
}

struct lttng_userspace_probe_location *lttng_userspace_probe_location_function_create(
	const char *binary_path, const char *function_name,
	struct lttng_userspace_probe_location_lookup_method *lookup_method)
{
	if (!binary_path || !function_name || !*function_name ||
	    method_type(lookup_method) ==
		    LTTNG_USERSPACE_PROBE_LOCATION_LOOKUP_METHOD_TYPE_TRACEPOINT_SDT)
		return NULL;
	return complete(new_location(LTTNG_USERSPACE_PROBE_LOCATION_TYPE_FUNCTION, binary_path,
				     NULL, function_name),
			lookup_method);
}

struct lttng_userspace_probe_location *lttng_userspace_probe_location_tracepoint_create(
	const char *binary_path, const char *probe_name, const char *provider_name,
	struct lttng_userspace_probe_location_lookup_method *lookup_method)
{
	if (!binary_path || !probe_name || !provider_name ||
	    method_type(lookup_method) !=
		    LTTNG_USERSPACE_PROBE_LOCATION_LOOKUP_METHOD_TYPE_TRACEPOINT_SDT)
		return NULL;
	return complete(new_location(LTTNG_USERSPACE_PROBE_LOCATION_TYPE_TRACEPOINT, binary_path,
				     provider_name, probe_name),
			lookup_method);
}

static bool is_of_type(const struct lttng_userspace_probe_location *location,
		       enum lttng_userspace_probe_location_type type)
{
	return location && location->type == type;
}

const char *lttng_userspace_probe_location_function_get_binary_path(
	const struct lttng_userspace_probe_location *location)
{
	return is_of_type(location, LTTNG_USERSPACE_PROBE_LOCATION_TYPE_FUNCTION) ? location->path
										  : NULL;
}

const char *lttng_userspace_probe_location_function_get_function_name(
	const struct lttng_userspace_probe_location *location)
{
	return is_of_type(location, LTTNG_USERSPACE_PROBE_LOCATION_TYPE_FUNCTION) ? location->name
										  : NULL;
}

int lttng_userspace_probe_location_function_get_binary_fd(
	const struct lttng_userspace_probe_location *location)
{
	return is_of_type(location, LTTNG_USERSPACE_PROBE_LOCATION_TYPE_FUNCTION) ? location->file
										  : -1;
}

enum lttng_userspace_probe_location_function_instrumentation_type
lttng_userspace_probe_location_function_get_instrumentation_type(
	const struct lttng_userspace_probe_location *location)
{
	if (!is_of_type(location, LTTNG_USERSPACE_PROBE_LOCATION_TYPE_FUNCTION))
		return LTTNG_USERSPACE_PROBE_LOCATION_FUNCTION_INSTRUMENTATION_TYPE_UNKNOWN;
	return LTTNG_USERSPACE_PROBE_LOCATION_FUNCTION_INSTRUMENTATION_TYPE_ENTRY;
}

enum lttng_userspace_probe_location_status
lttng_userspace_probe_location_function_set_instrumentation_type(
	const struct lttng_userspace_probe_location *location,
	enum lttng_userspace_probe_location_function_instrumentation_type instrumentation_type)
{
	/* There is only this one. */
	if (!is_of_type(location, LTTNG_USERSPACE_PROBE_LOCATION_TYPE_FUNCTION) ||
	    instrumentation_type !=
		    LTTNG_USERSPACE_PROBE_LOCATION_FUNCTION_INSTRUMENTATION_TYPE_ENTRY)
		return LTTNG_USERSPACE_PROBE_LOCATION_STATUS_INVALID;
	return LTTNG_USERSPACE_PROBE_LOCATION_STATUS_OK;
}

const struct lttng_userspace_probe_location_lookup_method *
lttng_userspace_probe_location_get_lookup_method(
	const struct lttng_userspace_probe_location *location)
{
	return location ? location->method : NULL;
}

const char *lttng_userspace_probe_location_tracepoint_get_binary_path(
	const struct lttng_userspace_probe_location *location)
{
	return is_of_type(location, LTTNG_USERSPACE_PROBE_LOCATION_TYPE_TRACEPOINT)
		? location->path
		: NULL;
}

const char *lttng_userspace_probe_location_tracepoint_get_probe_name(
	const struct lttng_userspace_probe_location *location)
{
	return is_of_type(location, LTTNG_USERSPACE_PROBE_LOCATION_TYPE_TRACEPOINT)
		? location->name
		: NULL;
}

const char *lttng_userspace_probe_location_tracepoint_get_provider_name(
	const struct lttng_userspace_probe_location *location)
{
	return is_of_type(location, LTTNG_USERSPACE_PROBE_LOCATION_TYPE_TRACEPOINT)
		? location->provider
		: NULL;
}

int lttng_userspace_probe_location_tracepoint_get_binary_fd(
	const struct lttng_userspace_probe_location *location)
{
	return is_of_type(location, LTTNG_USERSPACE_PROBE_LOCATION_TYPE_TRACEPOINT)
		? location->file
		: -1;
}

struct lttng_userspace_probe_location *
control_copy_program_probe(const struct lttng_userspace_probe_location *location)
{
	struct lttng_userspace_probe_location *const copy =
		new_location(location->type, location->path, location->provider, location->name);

	if (!copy)
		return NULL;
	if (location->method) {
		copy->method = new_method(location->method->type);
		if (!copy->method) {
			lttng_userspace_probe_location_destroy(copy);
			return NULL;
		}
	}
	if (location->file >= 0)
		copy->file = fcntl(location->file, F_DUPFD_CLOEXEC, 0);
	return copy;
}

void control_write_program_probe(struct request *request, const char *name,
				 const struct lttng_userspace_probe_location *location)
{
	control_begin_object(request, name);
	if (location->type == LTTNG_USERSPACE_PROBE_LOCATION_TYPE_TRACEPOINT) {
		control_write_text(request, "type", "tracepoint");
		control_write_text(request, "provider", location->provider);
		control_write_text(request, "probe", location->name);
	} else {
		control_write_text(request, "type", "function");
		control_write_text(request, "function", location->name);
	}
	control_write_text(request, "path", location->path);
	control_end_object(request);
}

struct lttng_userspace_probe_location *control_read_program_probe(const struct json *found)
{
	const char *const type = control_text_member(found, "type");
	const char *const path = control_text_member(found, "path");
	const bool is_function = type && strcmp(type, "function") == 0;
	struct lttng_userspace_probe_location *location;

	if (!path || !type || (!is_function && strcmp(type, "tracepoint") != 0))
		return NULL;
	location = new_location(is_function ? LTTNG_USERSPACE_PROBE_LOCATION_TYPE_FUNCTION
					    : LTTNG_USERSPACE_PROBE_LOCATION_TYPE_TRACEPOINT,
				path, control_text_member(found, "provider"),
				control_text_member(found, is_function ? "function" : "probe"));
	if (!location)
		return NULL;
	location->method = is_function
		? lttng_userspace_probe_location_lookup_method_function_elf_create()
		: lttng_userspace_probe_location_lookup_method_tracepoint_sdt_create();
	if (location->method)
		return location;
	lttng_userspace_probe_location_destroy(location);
	return NULL;
}
