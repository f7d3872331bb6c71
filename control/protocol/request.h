/*
 * Writes what the library asks a daemon: a line of JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_REQUEST_H
#define VESTIGE_CONTROL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text that grows. Whatever fails is remembered: only the end needs to look. */
struct request {
	char *bytes;
	size_t length;
	size_t room;
	bool has_failed;
	/* Whether something is before what comes next in the same object or list. */
	bool follows;
};

/* Begin a request. */
void control_begin_request(struct request *request, const char *verb);

/* End it: it is a line then, and its bytes are there unless it has failed. */
void control_end_request(struct request *request);

/* Free what is there of it. */
void control_free_request(struct request *request);

/* Write a member, or an element if the name is NULL. A text that is NULL is null. */
void control_write_text(struct request *request, const char *name, const char *text);
void control_write_integer(struct request *request, const char *name, int64_t number);
void control_write_whole(struct request *request, const char *name, uint64_t number);
void control_write_real(struct request *request, const char *name, double number);
void control_write_flag(struct request *request, const char *name, bool is_set);

/* Begin and end an object or a list. */
void control_begin_object(struct request *request, const char *name);
void control_end_object(struct request *request);
void control_begin_list(struct request *request, const char *name);
void control_end_list(struct request *request);

#endif
