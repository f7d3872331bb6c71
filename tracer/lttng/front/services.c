/*
 * What programs call around their tracepoints, and LTTng's own small libraries: most of it has
 * no meaning here, since the tracer follows processes, credentials and objects by itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "../../base/compiler.h"
#include "../interface.h"

extern const struct vestige_lttng vestige_lttng __attribute__((weak));

/* The functions of <lttng/ust-fork.h>: also libraries call them that stand in for fork() and
 * others. The signal mask is left alone. */
#define NOTHING(name, ...)               \
	EXPORTED void name(__VA_ARGS__); \
	void name(__VA_ARGS__)           \
	{                                \
	}
NOTHING(lttng_ust_before_fork, sigset_t *mask __attribute__((unused)))
NOTHING(lttng_ust_after_fork_parent, sigset_t *mask __attribute__((unused)))
NOTHING(lttng_ust_after_fork_child, sigset_t *mask __attribute__((unused)))
NOTHING(lttng_ust_after_setns, void)
NOTHING(lttng_ust_after_unshare, void)
NOTHING(lttng_ust_after_setuid, void)
NOTHING(lttng_ust_after_setgid, void)
NOTHING(lttng_ust_after_seteuid, void)
NOTHING(lttng_ust_after_setegid, void)
NOTHING(lttng_ust_after_setreuid, void)
NOTHING(lttng_ust_after_setregid, void)
NOTHING(lttng_ust_after_setresuid, void)
NOTHING(lttng_ust_after_setresgid, void)

/* Memory of a thread is made when it is needed. */
NOTHING(lttng_ust_common_ctor, void)
NOTHING(lttng_ust_common_alloc_tls, void)
NOTHING(lttng_ust_urcu_before_fork, sigset_t *mask __attribute__((unused)))
NOTHING(lttng_ust_urcu_after_fork_parent, sigset_t *mask __attribute__((unused)))
NOTHING(lttng_ust_urcu_after_fork_child, sigset_t *mask __attribute__((unused)))

/* Objects are told by the dynamic linker. */
NOTHING(lttng_ust_dl_update, void *place __attribute__((unused)))

/* No file is kept open that a program could close by mistake. */
NOTHING(lttng_ust_lock_fd_tracker, void)
NOTHING(lttng_ust_unlock_fd_tracker, void)
NOTHING(lttng_ust_delete_fd_from_tracker, int file __attribute__((unused)))

EXPORTED int lttng_ust_add_fd_to_tracker(int file);

int lttng_ust_add_fd_to_tracker(int file)
{
	return file;
}

/* LTTng's own library, where it is loaded after this one all the same, takes its points and
 * probes there. */
NOTHING(lttng_ust_tp_init, void)
NOTHING(lttng_ust_tp_exit, void)
NOTHING(lttng_ust_tp_probe_prune_release_queue, void)
#define NO_PROBE(name, ...)             \
	EXPORTED int name(__VA_ARGS__); \
	int name(__VA_ARGS__)           \
	{                               \
		return 0;               \
	}
#define UNUSED __attribute__((unused))
NO_PROBE(lttng_ust_tp_probe_register_queue_release, const char *provider UNUSED,
	 const char *event UNUSED, void (*function)(void) UNUSED, void *data UNUSED,
	 const char *signature UNUSED)
NO_PROBE(lttng_ust_tp_probe_unregister_queue_release, const char *provider UNUSED,
	 const char *event UNUSED, void (*function)(void) UNUSED, void *data UNUSED)

EXPORTED int lttng_ust_tracepoint_provider_register(const char *provider, const char *event,
						    void (*function)(void), void *data,
						    const char *signature);
EXPORTED int lttng_ust_tracepoint_provider_unregister(const char *provider, const char *event,
						      void (*function)(void), void *data);

int lttng_ust_tracepoint_provider_register(const char *provider, const char *event,
					   void (*function)(void), void *data,
					   const char *signature)
{
	const struct own_request request = {provider, event, {function, data}, signature};

	return &vestige_lttng ? vestige_lttng.add_probe(&request) : -ENOSYS;
}

int lttng_ust_tracepoint_provider_unregister(const char *provider, const char *event,
					     void (*function)(void), void *data)
{
	const struct own_request request = {provider, event, {function, data}, NULL};

	return &vestige_lttng ? vestige_lttng.remove_probe(&request) : -ENOSYS;
}

EXPORTED void *lttng_ust_context_provider_register(const struct ust_context_provider *provider);
EXPORTED void lttng_ust_context_provider_unregister(void *registered);

/* Who brings contexts wants to get something for them, also where nothing is recorded. */
void *lttng_ust_context_provider_register(const struct ust_context_provider *provider)
{
	static char nothing;

	if (!&vestige_lttng || !vestige_lttng.is_recording())
		return &nothing;
	return vestige_lttng.add_contexts(provider);
}

void lttng_ust_context_provider_unregister(void *registered)
{
	if (&vestige_lttng && registered)
		vestige_lttng.remove_contexts(registered);
}

EXPORTED void lttng_ust_init_thread(void);

void lttng_ust_init_thread(void)
{
	if (&vestige_lttng)
		vestige_lttng.nesting();
}

EXPORTED void lttng_ust_context_procname_reset(void);

void lttng_ust_context_procname_reset(void)
{
	if (&vestige_lttng)
		vestige_lttng.read_name();
}

EXPORTED const char *lttng_ust_strerror(int code);

const char *lttng_ust_strerror(int code)
{
	return strerror(-code);
}
