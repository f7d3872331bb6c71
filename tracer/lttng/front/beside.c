/*
 * Recording a program without taking LTTng-UST from it: LTTng's own library stays, and a session
 * daemon sees the program, too.
 *
 * This is preloaded and passes providers on. Each of their events gets a second probe, by the
 * interface that LTTng-UST has for other tracers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/compiler.h"
#include "../interface.h"

extern const struct vestige_lttng vestige_lttng __attribute__((weak));

EXPORTED void *lttng_ust_probe_register(const struct ust_provider *provider);
EXPORTED void lttng_ust_probe_unregister(void *registered);

EXPORTED void *lttng_ust_context_provider_register(const struct ust_context_provider *provider);
EXPORTED void lttng_ust_context_provider_unregister(void *registered);

typedef void *register_function(const struct ust_provider *provider);
typedef void *register_contexts_function(const struct ust_context_provider *provider);
typedef void unregister_function(void *registered);
typedef int add_probe_function(const char *provider, const char *event, void (*function)(void),
			       void *data, const char *signature);
typedef int remove_probe_function(const char *provider, const char *event, void (*function)(void),
				  void *data);

/* A provider in both. */
struct pair {
	struct pair *next;
	void *theirs;
	void *ours;
};

static struct pair *pairs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
	pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

/* A child process has the mutex as it was, and not the thread that would unlock it. */
static __attribute__((constructor)) void fork_without_lock(void)
{
	pthread_atfork(lock, unlock, unlock);
}

/* The next function of that name may be out of reach: a plugin has its libraries to itself. */
static void *find(const char *name)
{
	static void *volatile library;

	if (!library)
		library = dlopen("liblttng-ust.so.1", RTLD_NOW);
	return library ? dlsym(library, name) : NULL;
}

static void add_probe(const struct ust_provider *provider, const struct ust_event *event,
		      void *data)
{
	add_probe_function *add =
		(add_probe_function *) find("lttng_ust_tracepoint_provider_register");

	if (add)
		add(provider->name, event->name, event->event_class->probe, data,
		    event->event_class->signature);
}

static void remove_probe(const struct ust_provider *provider, const struct ust_event *event,
			 void *data)
{
	remove_probe_function *take =
		(remove_probe_function *) find("lttng_ust_tracepoint_provider_unregister");

	if (take)
		take(provider->name, event->name, event->event_class->probe, data);
}

/* What LTTng's library tells of objects, the tracer tells by itself. */
static bool is_lttngs_own(const struct ust_provider *provider)
{
	return !provider || !provider->name || !strcmp(provider->name, "lttng_ust_lib") ||
		!strcmp(provider->name, "lttng_ust_statedump");
}

static void add_pair(void *theirs, void *ours)
{
	struct pair *pair = malloc(sizeof(*pair));

	if (!pair)
		return;
	*pair = (struct pair) {.theirs = theirs, .ours = ours};
	lock();
	pair->next = pairs;
	pairs = pair;
	unlock();
}

/* Find what is ours of a provider, and forget it. */
static void *take_pair(const void *theirs)
{
	struct pair *found = NULL;
	void *ours;

	lock();
	for (struct pair **one = &pairs; *one && !found; one = &(*one)->next) {
		if ((*one)->theirs != theirs)
			continue;
		found = *one;
		*one = found->next;
		break;
	}
	unlock();
	ours = found ? found->ours : NULL;
	free(found);
	return ours;
}

void *lttng_ust_probe_register(const struct ust_provider *provider)
{
	register_function *next = (register_function *) find("lttng_ust_probe_register");
	void *theirs = next ? next(provider) : NULL;
	void *ours = NULL;

	if (theirs && &vestige_lttng && !is_lttngs_own(provider))
		ours = vestige_lttng.add_beside(provider, add_probe);
	if (ours)
		add_pair(theirs, ours);
	return theirs;
}

void lttng_ust_probe_unregister(void *registered)
{
	unregister_function *next = (unregister_function *) find("lttng_ust_probe_unregister");
	void *ours = take_pair(registered);

	if (ours)
		vestige_lttng.remove_beside(ours, remove_probe);
	if (next)
		next(registered);
}

void *lttng_ust_context_provider_register(const struct ust_context_provider *provider)
{
	register_contexts_function *next =
		(register_contexts_function *) find("lttng_ust_context_provider_register");
	void *theirs = next ? next(provider) : NULL;
	void *ours = theirs && &vestige_lttng ? vestige_lttng.add_contexts(provider) : NULL;

	if (ours)
		add_pair(theirs, ours);
	return theirs;
}

void lttng_ust_context_provider_unregister(void *registered)
{
	unregister_function *next =
		(unregister_function *) find("lttng_ust_context_provider_unregister");
	void *ours = take_pair(registered);

	if (ours)
		vestige_lttng.remove_contexts(ours);
	if (next)
		next(registered);
}
