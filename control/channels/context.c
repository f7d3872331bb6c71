/*
 * Contexts: fields that event records of a channel have beside their own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <linux/perf_event.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "domain_names.h"

#define LONGEST_NAME (3 * LTTNG_SYMBOL_NAME_LEN)

/* As --type of the command add-context has them. */
static const char *const names[] = {
	[LTTNG_EVENT_CONTEXT_PID] = "pid",
	[LTTNG_EVENT_CONTEXT_PROCNAME] = "procname",
	[LTTNG_EVENT_CONTEXT_PRIO] = "prio",
	[LTTNG_EVENT_CONTEXT_NICE] = "nice",
	[LTTNG_EVENT_CONTEXT_VPID] = "vpid",
	[LTTNG_EVENT_CONTEXT_TID] = "tid",
	[LTTNG_EVENT_CONTEXT_VTID] = "vtid",
	[LTTNG_EVENT_CONTEXT_PPID] = "ppid",
	[LTTNG_EVENT_CONTEXT_VPPID] = "vppid",
	[LTTNG_EVENT_CONTEXT_PTHREAD_ID] = "pthread_id",
	[LTTNG_EVENT_CONTEXT_HOSTNAME] = "hostname",
	[LTTNG_EVENT_CONTEXT_IP] = "ip",
	[LTTNG_EVENT_CONTEXT_INTERRUPTIBLE] = "interruptible",
	[LTTNG_EVENT_CONTEXT_PREEMPTIBLE] = "preemptible",
	[LTTNG_EVENT_CONTEXT_NEED_RESCHEDULE] = "need_reschedule",
	[LTTNG_EVENT_CONTEXT_MIGRATABLE] = "migratable",
	[LTTNG_EVENT_CONTEXT_CALLSTACK_KERNEL] = "callstack-kernel",
	[LTTNG_EVENT_CONTEXT_CALLSTACK_USER] = "callstack-user",
	[LTTNG_EVENT_CONTEXT_CGROUP_NS] = "cgroup_ns",
	[LTTNG_EVENT_CONTEXT_IPC_NS] = "ipc_ns",
	[LTTNG_EVENT_CONTEXT_MNT_NS] = "mnt_ns",
	[LTTNG_EVENT_CONTEXT_NET_NS] = "net_ns",
	[LTTNG_EVENT_CONTEXT_PID_NS] = "pid_ns",
	[LTTNG_EVENT_CONTEXT_USER_NS] = "user_ns",
	[LTTNG_EVENT_CONTEXT_UTS_NS] = "uts_ns",
	[LTTNG_EVENT_CONTEXT_UID] = "uid",
	[LTTNG_EVENT_CONTEXT_EUID] = "euid",
	[LTTNG_EVENT_CONTEXT_SUID] = "suid",
	[LTTNG_EVENT_CONTEXT_GID] = "gid",
	[LTTNG_EVENT_CONTEXT_EGID] = "egid",
	[LTTNG_EVENT_CONTEXT_SGID] = "sgid",
	[LTTNG_EVENT_CONTEXT_VUID] = "vuid",
	[LTTNG_EVENT_CONTEXT_VEUID] = "veuid",
	[LTTNG_EVENT_CONTEXT_VSUID] = "vsuid",
	[LTTNG_EVENT_CONTEXT_VGID] = "vgid",
	[LTTNG_EVENT_CONTEXT_VEGID] = "vegid",
	[LTTNG_EVENT_CONTEXT_VSGID] = "vsgid",
	[LTTNG_EVENT_CONTEXT_TIME_NS] = "time_ns",
};

/* Counters by what perf_event_open(2) has for them. */
static const struct {
	uint32_t type;
	uint64_t config;
	const char *name;
} counters[] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cpu-cycles"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "stalled-cycles-frontend"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "stalled-cycles-backend"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, "cache-references"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "cache-misses"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branch-instructions"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, "bus-cycles"},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock"},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "task-clock"},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page-fault"},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "context-switches"},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "cpu-migrations"},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, "minor-faults"},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "major-faults"},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, "alignment-faults"},
	{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, "emulation-faults"},
};

/* Write the name of a counter of a cache; return false if there is none. */
static bool write_cache_counter(char *name, size_t size, const char *start, uint64_t config)
{
	static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC",
					     "dTLB",      "iTLB",      "branch"};
	static const char *const operations[] = {"load", "store", "prefetch"};
	const uint64_t cache = config & 0xff, operation = config >> 8 & 0xff;
	const bool is_missed = config >> 16 & 1;

	if (cache >= sizeof(caches) / sizeof(*caches) ||
	    operation >= sizeof(operations) / sizeof(*operations) || config >> 17)
		return false;
	snprintf(name, size, "%s%s-%s%s", start, caches[cache], operations[operation],
		 is_missed                ? "-misses"
			 : operation == 2 ? "es"
					  : "s");
	return true;
}

static bool write_counter_name(char *name, size_t size, const struct lttng_event_context *context)
{
	const struct lttng_event_perf_counter_ctx *const counter = &context->u.perf_counter;
	const char *const start = context->ctx == LTTNG_EVENT_CONTEXT_PERF_CPU_COUNTER
		? "perf:cpu:"
		: "perf:thread:";

	if (counter->type == PERF_TYPE_RAW) {
		snprintf(name, size, "%sraw:r%" PRIx64 ":%.*s", start, counter->config,
			 LTTNG_SYMBOL_NAME_LEN - 1, counter->name);
		return true;
	}
	if (counter->type == PERF_TYPE_HW_CACHE)
		return write_cache_counter(name, size, start, counter->config);
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
		if (counters[i].type == counter->type && counters[i].config == counter->config) {
			snprintf(name, size, "%s%s", start, counters[i].name);
			return true;
		}
	}
	return false;
}

/* Write the name of a context; return false if there is none. */
static bool write_name(char *name, size_t size, const struct lttng_event_context *context)
{
	const unsigned int kind = (unsigned int) context->ctx;

	switch (context->ctx) {
	case LTTNG_EVENT_CONTEXT_PERF_COUNTER:
	case LTTNG_EVENT_CONTEXT_PERF_CPU_COUNTER:
	case LTTNG_EVENT_CONTEXT_PERF_THREAD_COUNTER:
		return write_counter_name(name, size, context);
	case LTTNG_EVENT_CONTEXT_APP_CONTEXT:
		if (!context->u.app_ctx.provider_name || !context->u.app_ctx.ctx_name)
			return false;
		return (size_t) snprintf(name, size, "$app.%s:%s",
					 context->u.app_ctx.provider_name,
					 context->u.app_ctx.ctx_name) < size;
	default:
		if (kind >= sizeof(names) / sizeof(*names) || !names[kind])
			return false;
		snprintf(name, size, "%s", names[kind]);
		return true;
	}
}

int lttng_add_context(struct lttng_handle *handle, struct lttng_event_context *ctx,
		      const char *event_name, const char *channel_name)
{
	char name[LONGEST_NAME];
	const char *domain;
	struct request request;

	(void) event_name;
	if (!handle || !ctx)
		return -LTTNG_ERR_INVALID;
	domain = control_domain_name(handle->domain.type);
	if (!domain)
		return -LTTNG_ERR_UNKNOWN_DOMAIN;
	if (!write_name(name, sizeof(name), ctx))
		return -LTTNG_ERR_UST_CONTEXT_INVAL;
	control_begin_request(&request, "add-context");
	control_write_text(&request, "session", handle->session_name);
	control_write_text(&request, "domain", domain);
	control_write_text(&request, "channel", channel_name);
	control_write_text(&request, "type", name);
	return control_ask(&request, NULL);
}
