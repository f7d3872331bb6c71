/*
 * How often something went wrong for a trigger, its condition or its actions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_ERROR_QUERY_H
#define VESTIGE_LTTNG_ERROR_QUERY_H

#include <stdint.h>
#include <lttng/lttng.h>
#include <lttng/trigger/trigger.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_error_query;
struct lttng_error_query_results;
struct lttng_error_query_result;

enum lttng_error_query_status {
	LTTNG_ERROR_QUERY_STATUS_OK = 0,
	LTTNG_ERROR_QUERY_STATUS_ERROR = -1,
	LTTNG_ERROR_QUERY_STATUS_INVALID_QUERY_TARGET = -2,
	LTTNG_ERROR_QUERY_STATUS_INVALID_PARAMETER = -3,
};

enum lttng_error_query_result_type {
	LTTNG_ERROR_QUERY_RESULT_TYPE_COUNTER = 0,
	LTTNG_ERROR_QUERY_RESULT_TYPE_UNKNOWN = -1,
};

enum lttng_error_query_result_status {
	LTTNG_ERROR_QUERY_RESULT_STATUS_OK = 0,
	LTTNG_ERROR_QUERY_RESULT_STATUS_ERROR = -1,
	LTTNG_ERROR_QUERY_RESULT_STATUS_INVALID_PARAMETER = -2,
};

enum lttng_error_query_results_status {
	LTTNG_ERROR_QUERY_RESULTS_STATUS_OK = 0,
	LTTNG_ERROR_QUERY_RESULTS_STATUS_ERROR = -1,
	LTTNG_ERROR_QUERY_RESULTS_STATUS_INVALID_PARAMETER = -2,
};

/* Queries copy what they need. The path leads to an action of the trigger. */
struct lttng_error_query *lttng_error_query_trigger_create(const struct lttng_trigger *trigger);

struct lttng_error_query *lttng_error_query_condition_create(const struct lttng_trigger *trigger);

struct lttng_error_query *
lttng_error_query_action_create(const struct lttng_trigger *trigger,
				const struct lttng_action_path *action_path);

void lttng_error_query_destroy(struct lttng_error_query *query);

/* Ask the daemon; the endpoint is lttng_session_daemon_command_endpoint. */
enum lttng_error_code lttng_error_query_execute(const struct lttng_error_query *query,
						const struct lttng_endpoint *endpoint,
						struct lttng_error_query_results **results);

enum lttng_error_query_results_status
lttng_error_query_results_get_count(const struct lttng_error_query_results *results,
				    unsigned int *count);

/* What this gives belongs to the results. */
enum lttng_error_query_results_status
lttng_error_query_results_get_result(const struct lttng_error_query_results *results,
				     const struct lttng_error_query_result **result,
				     unsigned int index);

void lttng_error_query_results_destroy(struct lttng_error_query_results *results);

enum lttng_error_query_result_type
lttng_error_query_result_get_type(const struct lttng_error_query_result *result);

enum lttng_error_query_result_status
lttng_error_query_result_get_name(const struct lttng_error_query_result *result,
				  const char **name);

enum lttng_error_query_result_status
lttng_error_query_result_get_description(const struct lttng_error_query_result *result,
					 const char **description);

enum lttng_error_query_result_status
lttng_error_query_result_counter_get_value(const struct lttng_error_query_result *result,
					   uint64_t *value);

#ifdef __cplusplus
}
#endif

#endif
