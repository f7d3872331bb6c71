/*
 * Stands in for dlopen(), dlmopen() and dlclose(), and tells the tracer what they did.
 *
 * Preloaded by `vestige record --dl`. The tracer knows the objects, and records loads and
 * unloads itself (lttng_ust_lib:*); these events tell of each call, also where nothing was
 * mapped or unmapped.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "../objects/object.h"
#include "caller.h"
#include "helper.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#include "dl_events.h"

static const struct vestige_tracer *tracer;
static object_function *find_object;
static void *(*next_dlopen)(const char *, int);
static void *(*next_dlmopen)(Lmid_t, const char *, int);
static int (*next_dlclose)(void *);

static void meet_tracer(void)
{
	struct vestige_tracepoint *const points[] = {
		&VESTIGE_POINT(lttng_ust_dl, dlopen),   &VESTIGE_POINT(lttng_ust_dl, dlmopen),
		&VESTIGE_POINT(lttng_ust_dl, build_id), &VESTIGE_POINT(lttng_ust_dl, debug_link),
		&VESTIGE_POINT(lttng_ust_dl, dlclose),
	};

	helper_meet(tracer, vestige_start_provider_lttng_ust_dl, points,
		    sizeof(points) / sizeof(points[0]));
}

/* Constructors of other libraries may come before ours. */
static __attribute__((constructor(101), noinline)) void prepare(void)
{
	if (!next_dlclose) {
		tracer = vestige_find_tracer();
		*(void **) &find_object = dlsym(RTLD_DEFAULT, "vestige_find_object");
		*(void **) &next_dlopen = dlsym(RTLD_NEXT, "dlopen");
		*(void **) &next_dlmopen = dlsym(RTLD_NEXT, "dlmopen");
		*(void **) &next_dlclose = dlsym(RTLD_NEXT, "dlclose");
	}
	meet_tracer();
}

/* A call of dlopen() or dlmopen(). */
struct call {
	const char *ip;
	int flags;
	bool has_name_space;
	Lmid_t name_space;
};

static void tell_details(const struct object *object, const struct call *call)
{
	if (object->build_id_size)
		lttng_ust_tracepoint(lttng_ust_dl, build_id, object->base, object->build_id,
				     object->build_id_size, call->ip);
	if (object->has_debug_link)
		lttng_ust_tracepoint(lttng_ust_dl, debug_link, object->base, object->crc,
				     object->debug_link, call->ip);
}

/* The program itself, which dlopen(NULL) opens, has no name, and makes no event. */
static void tell_open(void *handle, const struct call *call)
{
	const int saved = errno;
	struct link_map *map = NULL;
	char path[PATH_MAX];
	struct object object;

	if (handle && tracer && find_object && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
	    map && map->l_name && *map->l_name && find_object(map, &object, path)) {
		const uint8_t has_build_id = object.build_id_size != 0;

		if (call->has_name_space)
			lttng_ust_tracepoint(lttng_ust_dl, dlmopen, object.base, object.size,
					     call->name_space, call->flags, path, has_build_id,
					     object.has_debug_link, call->ip);
		else
			lttng_ust_tracepoint(lttng_ust_dl, dlopen, object.base, object.size,
					     call->flags, path, has_build_id,
					     object.has_debug_link, call->ip);
		tell_details(&object, call);
	}
	errno = saved;
}

/* Open in the name of the caller. It has its own stack frame, so that what cannot be done
 * here can be left to a jump. */
static __attribute__((noinline)) void *open_and_tell(const char *path, struct call call,
						     const void *place)
{
	void *handle;

	if (call.has_name_space)
		handle = place ? caller_call((uintptr_t) call.name_space, (uintptr_t) path,
					     (uintptr_t) call.flags, (void *) next_dlmopen, place)
			       : next_dlmopen(call.name_space, path, call.flags);
	else
		handle = place ? caller_call((uintptr_t) path, (uintptr_t) call.flags, 0,
					     (void *) next_dlopen, place)
			       : next_dlopen(path, call.flags);
	tell_open(handle, &call);
	return handle;
}

EXPORTED void *dlopen(const char *path, int flags)
{
	struct caller caller;

	prepare();
	caller = caller_find(CALLER(), path);
	if (caller.way == CALLER_JUMPS)
		return next_dlopen(path, flags);
	return open_and_tell(path, (struct call) {.ip = CALLER(), .flags = flags}, caller.place);
}

EXPORTED void *dlmopen(Lmid_t name_space, const char *path, int flags)
{
	struct caller caller;

	prepare();
	caller = caller_find(CALLER(), path);
	if (caller.way == CALLER_JUMPS)
		return next_dlmopen(name_space, path, flags);
	return open_and_tell(path, (struct call) {CALLER(), flags, true, name_space},
			     caller.place);
}

EXPORTED int dlclose(void *handle)
{
	struct link_map *map = NULL;

	prepare();
	/* Before: it may be gone afterwards. */
	if (lttng_ust_tracepoint_enabled(lttng_ust_dl, dlclose)) {
		const int saved = errno;

		if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_addr)
			lttng_ust_do_tracepoint(lttng_ust_dl, dlclose, map->l_addr, CALLER());
		errno = saved;
	}
	return next_dlclose(handle);
}
