/*
 * Inclusion sets: which processes may record, by their number, user or group.
 *
 * Of the domain of user space there are those of virtual process, user and group IDs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_TRACKER_H
#define VESTIGE_LTTNG_TRACKER_H

#include <sys/types.h>
#include <lttng/constant.h>
#include <lttng/domain.h>
#include <lttng/lttng-error.h>
#include <lttng/session.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lttng_process_attr {
	LTTNG_PROCESS_ATTR_PROCESS_ID = 0,
	LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID = 1,
	LTTNG_PROCESS_ATTR_USER_ID = 2,
	LTTNG_PROCESS_ATTR_VIRTUAL_USER_ID = 3,
	LTTNG_PROCESS_ATTR_GROUP_ID = 4,
	LTTNG_PROCESS_ATTR_VIRTUAL_GROUP_ID = 5,
};

enum lttng_tracking_policy {
	LTTNG_TRACKING_POLICY_INCLUDE_ALL = 0,
	LTTNG_TRACKING_POLICY_EXCLUDE_ALL = 1,
	LTTNG_TRACKING_POLICY_INCLUDE_SET = 2,
};

enum lttng_process_attr_value_type {
	LTTNG_PROCESS_ATTR_VALUE_TYPE_INVALID = -1,
	LTTNG_PROCESS_ATTR_VALUE_TYPE_PID = 0,
	LTTNG_PROCESS_ATTR_VALUE_TYPE_UID = 1,
	LTTNG_PROCESS_ATTR_VALUE_TYPE_USER_NAME = 2,
	LTTNG_PROCESS_ATTR_VALUE_TYPE_GID = 3,
	LTTNG_PROCESS_ATTR_VALUE_TYPE_GROUP_NAME = 4,
};

enum lttng_process_attr_tracker_handle_status {
	LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_GROUP_NOT_FOUND = -7,
	LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_USER_NOT_FOUND = -6,
	LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID_TRACKING_POLICY = -5,
	LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_SESSION_DOES_NOT_EXIST = -4,
	LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_ERROR = -3,
	LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_COMMUNICATION_ERROR = -2,
	LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID = -1,
	LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK = 0,
	LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_EXISTS = 1,
	LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_MISSING = 2,
};

enum lttng_process_attr_values_status {
	LTTNG_PROCESS_ATTR_VALUES_STATUS_INVALID_TYPE = -2,
	LTTNG_PROCESS_ATTR_VALUES_STATUS_INVALID = -1,
	LTTNG_PROCESS_ATTR_VALUES_STATUS_OK = 0,
};

struct lttng_process_attr_tracker_handle;
struct lttng_process_attr_values;

/* Give a handle that is to be destroyed; LTTNG_OK if there is such a session. */
enum lttng_error_code
lttng_session_get_tracker_handle(const char *session_name, enum lttng_domain_type domain,
				 enum lttng_process_attr process_attr,
				 struct lttng_process_attr_tracker_handle **out_tracker_handle);

void lttng_process_attr_tracker_handle_destroy(
	struct lttng_process_attr_tracker_handle *tracker_handle);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_tracker_handle_get_tracking_policy(
	const struct lttng_process_attr_tracker_handle *tracker_handle,
	enum lttng_tracking_policy *policy);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_tracker_handle_set_tracking_policy(
	const struct lttng_process_attr_tracker_handle *tracker_handle,
	enum lttng_tracking_policy policy);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_process_id_tracker_handle_add_pid(
	const struct lttng_process_attr_tracker_handle *process_id_tracker, pid_t pid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_process_id_tracker_handle_remove_pid(
	const struct lttng_process_attr_tracker_handle *process_id_tracker, pid_t pid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_virtual_process_id_tracker_handle_add_pid(
	const struct lttng_process_attr_tracker_handle *process_id_tracker, pid_t vpid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_virtual_process_id_tracker_handle_remove_pid(
	const struct lttng_process_attr_tracker_handle *process_id_tracker, pid_t vpid);

enum lttng_process_attr_tracker_handle_status lttng_process_attr_user_id_tracker_handle_add_uid(
	const struct lttng_process_attr_tracker_handle *user_id_tracker, uid_t uid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_user_id_tracker_handle_remove_uid(
	const struct lttng_process_attr_tracker_handle *user_id_tracker, uid_t uid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_user_id_tracker_handle_add_user_name(
	const struct lttng_process_attr_tracker_handle *user_id_tracker, const char *user_name);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_user_id_tracker_handle_remove_user_name(
	const struct lttng_process_attr_tracker_handle *user_id_tracker, const char *user_name);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_virtual_user_id_tracker_handle_add_uid(
	const struct lttng_process_attr_tracker_handle *user_id_tracker, uid_t vuid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_virtual_user_id_tracker_handle_remove_uid(
	const struct lttng_process_attr_tracker_handle *user_id_tracker, uid_t vuid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_virtual_user_id_tracker_handle_add_user_name(
	const struct lttng_process_attr_tracker_handle *user_id_tracker,
	const char *virtual_user_name);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_virtual_user_id_tracker_handle_remove_user_name(
	const struct lttng_process_attr_tracker_handle *user_id_tracker,
	const char *virtual_user_name);

enum lttng_process_attr_tracker_handle_status lttng_process_attr_group_id_tracker_handle_add_gid(
	const struct lttng_process_attr_tracker_handle *group_id_tracker, gid_t gid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_group_id_tracker_handle_remove_gid(
	const struct lttng_process_attr_tracker_handle *group_id_tracker, gid_t gid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_group_id_tracker_handle_add_group_name(
	const struct lttng_process_attr_tracker_handle *group_id_tracker, const char *group_name);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_group_id_tracker_handle_remove_group_name(
	const struct lttng_process_attr_tracker_handle *group_id_tracker, const char *group_name);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_virtual_group_id_tracker_handle_add_gid(
	const struct lttng_process_attr_tracker_handle *group_id_tracker, gid_t vgid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_virtual_group_id_tracker_handle_remove_gid(
	const struct lttng_process_attr_tracker_handle *group_id_tracker, gid_t vgid);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_virtual_group_id_tracker_handle_add_group_name(
	const struct lttng_process_attr_tracker_handle *group_id_tracker,
	const char *virtual_group_name);

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_virtual_group_id_tracker_handle_remove_group_name(
	const struct lttng_process_attr_tracker_handle *group_id_tracker,
	const char *virtual_group_name);

/* Give the set, which belongs to the handle until this is called again. */
enum lttng_process_attr_tracker_handle_status lttng_process_attr_tracker_handle_get_inclusion_set(
	struct lttng_process_attr_tracker_handle *tracker_handle,
	const struct lttng_process_attr_values **values);

enum lttng_process_attr_values_status
lttng_process_attr_values_get_count(const struct lttng_process_attr_values *values,
				    unsigned int *count);

enum lttng_process_attr_value_type
lttng_process_attr_values_get_type_at_index(const struct lttng_process_attr_values *values,
					    unsigned int index);

/* INVALID_TYPE of a value of another type. */
enum lttng_process_attr_values_status
lttng_process_attr_values_get_pid_at_index(const struct lttng_process_attr_values *values,
					   unsigned int index, pid_t *pid);

enum lttng_process_attr_values_status
lttng_process_attr_values_get_uid_at_index(const struct lttng_process_attr_values *values,
					   unsigned int index, uid_t *uid);

enum lttng_process_attr_values_status
lttng_process_attr_values_get_user_name_at_index(const struct lttng_process_attr_values *values,
						 unsigned int index, const char **user_name);

enum lttng_process_attr_values_status
lttng_process_attr_values_get_gid_at_index(const struct lttng_process_attr_values *values,
					   unsigned int index, gid_t *gid);

enum lttng_process_attr_values_status
lttng_process_attr_values_get_group_name_at_index(const struct lttng_process_attr_values *values,
						  unsigned int index, const char **group_name);

/* Older functions for process IDs; a number of -1 means all processes. What was listed is to be freed. */
int lttng_list_tracker_pids(struct lttng_handle *handle, int *enabled, int32_t **pids,
			    size_t *nr_pids);

int lttng_track_pid(struct lttng_handle *handle, int pid);

int lttng_untrack_pid(struct lttng_handle *handle, int pid);

#ifdef __cplusplus
}
#endif

#endif
