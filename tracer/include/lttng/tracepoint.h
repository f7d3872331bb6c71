/*
 * Tracepoints, as the LTTng 2.13 documentation describes them ("Instrument a C/C++ user
 * application") and lttng-ust(3): the names are its, and programs written for them compile
 * unchanged.
 *
 * A tracepoint that is not recorded costs one load and one branch; its arguments are not
 * evaluated. Nothing needs to be linked: the tracer is looked for when the program starts.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_TRACEPOINT_H
#define VESTIGE_LTTNG_TRACEPOINT_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <vestige/arguments.h>
#include <vestige/markers.h>
#include <vestige/tracepoint-abi.h>

#if defined(__cplusplus) && __cplusplus <= 199711L
#error "tracepoints need C++11"
#endif

/* The oldest interface whose names are offered; 0 has those from before LTTng 2.13. */
#ifndef LTTNG_UST_COMPAT_API_VERSION
#define LTTNG_UST_COMPAT_API_VERSION 0
#endif
#define LTTNG_UST_COMPAT_API(major) (LTTNG_UST_COMPAT_API_VERSION <= (major))

/* Provider, colon, name and the zero behind them. */
#define LTTNG_UST_TRACEPOINT_NAME_LEN_MAX 256

#ifdef __cplusplus
#define VESTIGE_ASSERT(condition, words) static_assert(condition, words)
#define VESTIGE_BEGIN_C extern "C" {
#define VESTIGE_END_C }
#else
#define VESTIGE_ASSERT(condition, words) _Static_assert(condition, words)
#define VESTIGE_BEGIN_C
#define VESTIGE_END_C
#endif

/* Before constructors of the program, which may pass tracepoints, and after destructors. */
#define VESTIGE_AT_LOAD		__attribute__((constructor(150)))
#define VESTIGE_AT_UNLOAD	__attribute__((destructor(150)))

#define VESTIGE_NOT_TRACED __attribute__((no_instrument_function))
#define VESTIGE_INLINE static inline __attribute__((always_inline, unused)) VESTIGE_NOT_TRACED

VESTIGE_BEGIN_C

/* A program that defines this learns whether it is traced; see lttng-ust(3). */
extern int lttng_ust_loaded __attribute__((weak, visibility("default")));

/* The tracer, or NULL in a process without it. */
static inline __attribute__((unused)) VESTIGE_NOT_TRACED const struct vestige_tracer *
vestige_find_tracer(void)
{
	const struct vestige_tracer *found =
		(const struct vestige_tracer *) dlsym((void *) 0, "vestige_tracer");

	if (!found || found->struct_size < sizeof(*found))
		return (const struct vestige_tracer *) 0;
	if (&lttng_ust_loaded)
		lttng_ust_loaded = 1;
	return found;
}

/* Keep it until there is a tracer. It is there in what links lttng-ust. */
extern void vestige_wait_for_tracer(struct vestige_waiter *waiter)
	__attribute__((weak, visibility("hidden")));

/* Begin with the tracer, now or when it comes. */
static inline __attribute__((unused)) VESTIGE_NOT_TRACED void
vestige_begin(struct vestige_waiter *waiter)
{
	const struct vestige_tracer *tracer = vestige_find_tracer();

	waiter->start(tracer);
	if (!tracer && vestige_wait_for_tracer)
		vestige_wait_for_tracer(waiter);
}

/* Where the thread and its stack are. A compiler may take neither for the same at two places: a
 * coroutine may have changed the thread in between. */
#if defined(__x86_64__)
#define VESTIGE_READ_THREAD(pointer)	__asm__ volatile("mov %%fs:0, %0" : "=r"(pointer))
#define VESTIGE_READ_STACK(pointer)	__asm__ volatile("mov %%rsp, %0" : "=r"(pointer))
#elif defined(__aarch64__)
#define VESTIGE_READ_THREAD(pointer)	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(pointer))
#define VESTIGE_READ_STACK(pointer)	__asm__ volatile("mov %0, sp" : "=r"(pointer))
#endif

/* The passage of this thread, by the state of a tracepoint; NULL when there is none. */
VESTIGE_INLINE struct vestige_passage *vestige_find_passage(int state, int is_first)
{
#ifdef VESTIGE_READ_THREAD
	const char *pointer;
	const struct vestige_thread *thread;

	VESTIGE_READ_THREAD(pointer);
	thread = (const struct vestige_thread *) (const void *) (pointer + state);
	if (is_first && __builtin_expect(!thread->passage, 0))
		thread->meet();
	return thread->passage;
#else
	(void) state;
	(void) is_first;
	return (struct vestige_passage *) 0;
#endif
}

/* Let the tracer know the thread: before arguments are evaluated, which would have to be saved
 * at a call. */
VESTIGE_INLINE void vestige_meet(int state)
{
	if (state != VESTIGE_STAYS && state)
		vestige_find_passage(state, 1);
}

/* In memory, so that functions with a tracepoint that is off need not save registers. */
struct vestige_visit {
	struct vestige_passage *volatile passage;
	volatile uintptr_t before;
	struct vestige_passage none;
};

/* Say that the thread is here, so that nothing it calls is unloaded; false when the tracepoint
 * is off, or the thread cannot record. */
VESTIGE_INLINE bool vestige_enter(struct vestige_visit *visit, int state)
{
	struct vestige_passage *passage = &visit->none;
	uintptr_t stack = 0;

	visit->none.inside = 0;
	if (!state)
		return false;
	if (state != VESTIGE_STAYS)
		passage = vestige_find_passage(state, 0);
	if (__builtin_expect(!passage, 0))
		return false;
#ifdef VESTIGE_READ_STACK
	VESTIGE_READ_STACK(stack);
#endif
	visit->passage = passage;
	/* Not zero in a signal handler. */
	visit->before = passage->inside;
	passage->inside = stack;
	/* Who unloads it has a barrier for both sides, see membarrier(2). */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

VESTIGE_INLINE void vestige_leave(const struct vestige_visit *visit)
{
	__atomic_store_n(&visit->passage->inside, visit->before, __ATOMIC_RELEASE);
}

VESTIGE_END_C

#define LTTNG_UST_TP_ARGS(...)	(__VA_ARGS__)

#define VESTIGE_POINT(provider, name)	vestige_tracepoint_##provider##___##name

#define lttng_ust_tracepoint_enabled(...)	VESTIGE_ENABLED(__VA_ARGS__)
#define VESTIGE_ENABLED(provider, name) \
	__builtin_expect(VESTIGE_POINT(provider, name).state, 0)

/* The provider, the name and up to ten arguments, all in `...`: ISO C wants at least one. */
#define lttng_ust_do_tracepoint(...) \
	VESTIGE_JOIN(VESTIGE_DO_, VESTIGE_HAS_ARGUMENTS(__VA_ARGS__))(__VA_ARGS__)
#define VESTIGE_DO_0(provider, name)							\
	(vestige_meet(VESTIGE_POINT(provider, name).state),				\
	 vestige_call_##provider##___##name())
#define VESTIGE_DO_1(provider, name, ...)						\
	(vestige_meet(VESTIGE_POINT(provider, name).state),				\
	 vestige_call_##provider##___##name(__VA_ARGS__))

#define lttng_ust_tracepoint(...)							\
	do {										\
		VESTIGE_MARK(__VA_ARGS__);						\
		if (lttng_ust_tracepoint_enabled(VESTIGE_FIRST_TWO(__VA_ARGS__, vestige_x_)))	\
			lttng_ust_do_tracepoint(__VA_ARGS__);				\
	} while (0)

/* Always inlined, so that the probe finds the place by its return address. */
#define VESTIGE_DECLARE_POINT(provider, name, arguments)				\
	VESTIGE_ASSERT(sizeof(#provider ":" #name) <= LTTNG_UST_TRACEPOINT_NAME_LEN_MAX,\
		       "the name of tracepoint " #provider ":" #name " is too long");	\
	VESTIGE_BEGIN_C									\
	extern struct vestige_tracepoint VESTIGE_POINT(provider, name)			\
		VESTIGE_POINT_VISIBILITY;						\
	VESTIGE_END_C									\
	VESTIGE_CALL(provider, name, VESTIGE_PROTOTYPE arguments,			\
		     VESTIGE_POINTERS arguments, VESTIGE_VALUES arguments)

#define VESTIGE_CALL(provider, name, prototype, types, values)				\
	VESTIGE_CALL_(provider, name, (prototype), (types), (values))
#define VESTIGE_CALL_(provider, name, prototype, types, values)			\
	VESTIGE_INLINE void vestige_call_##provider##___##name prototype		\
	{										\
		struct vestige_visit vestige_visit_;					\
											\
		if (vestige_enter(&vestige_visit_, __atomic_load_n(			\
				&VESTIGE_POINT(provider, name).state, __ATOMIC_ACQUIRE))) {\
			const struct vestige_event *vestige_event_ = __atomic_load_n(	\
				&VESTIGE_POINT(provider, name).event, __ATOMIC_ACQUIRE);\
											\
			((void (*) types) vestige_event_->event_class->probe) values;	\
			vestige_leave(&vestige_visit_);					\
		}									\
		/* No jump: the probe is told by its return address where it was called. */\
		__asm__ volatile("");							\
	}

/* Tell the tracer of a tracepoint when its object is loaded, and unloaded. */
#define VESTIGE_REGISTER_POINT(point_provider, point_name)				\
	VESTIGE_NOT_TRACED static void							\
	vestige_start_##point_provider##___##point_name(const struct vestige_tracer *tracer)\
	{										\
		if (tracer)								\
			tracer->add_tracepoint(&VESTIGE_POINT(point_provider, point_name));\
	}										\
	VESTIGE_AT_LOAD VESTIGE_NOT_TRACED static void					\
	vestige_add_##point_provider##___##point_name(void)				\
	{										\
		static struct vestige_waiter waiter = {					\
			vestige_start_##point_provider##___##point_name,		\
			(struct vestige_waiter *) 0,					\
		};									\
											\
		vestige_begin(&waiter);							\
	}										\
	VESTIGE_AT_UNLOAD VESTIGE_NOT_TRACED static void				\
	vestige_remove_##point_provider##___##point_name(void)				\
	{										\
		const struct vestige_tracer *tracer = vestige_find_tracer();		\
											\
		if (tracer)								\
			tracer->remove_tracepoint(&VESTIGE_POINT(point_provider, point_name));\
	}

#define VESTIGE_COMMA ,

#define VESTIGE_PROTOTYPE(...)	VESTIGE_JOIN(VESTIGE_PROTOTYPE_, VESTIGE_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define VESTIGE_PROTOTYPE_0(...)	void
#define VESTIGE_PROTOTYPE_2(t, n)	t n
#define VESTIGE_PROTOTYPE_4(t, n, ...)	t n VESTIGE_TYPED_2(__VA_ARGS__)
#define VESTIGE_PROTOTYPE_6(t, n, ...)	t n VESTIGE_TYPED_4(__VA_ARGS__)
#define VESTIGE_PROTOTYPE_8(t, n, ...)	t n VESTIGE_TYPED_6(__VA_ARGS__)
#define VESTIGE_PROTOTYPE_10(t, n, ...)	t n VESTIGE_TYPED_8(__VA_ARGS__)
#define VESTIGE_PROTOTYPE_12(t, n, ...)	t n VESTIGE_TYPED_10(__VA_ARGS__)
#define VESTIGE_PROTOTYPE_14(t, n, ...)	t n VESTIGE_TYPED_12(__VA_ARGS__)
#define VESTIGE_PROTOTYPE_16(t, n, ...)	t n VESTIGE_TYPED_14(__VA_ARGS__)
#define VESTIGE_PROTOTYPE_18(t, n, ...)	t n VESTIGE_TYPED_16(__VA_ARGS__)
#define VESTIGE_PROTOTYPE_20(t, n, ...)	t n VESTIGE_TYPED_18(__VA_ARGS__)
#define VESTIGE_POINTERS(...)	const struct vestige_event * VESTIGE_TYPED(__VA_ARGS__)
#define VESTIGE_VALUES(...)	vestige_event_ VESTIGE_NAMES(__VA_ARGS__)

/* Text for `vestige list`. Linkers that drop what nothing refers to keep it, too, where the
 * compiler can say so. */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define VESTIGE_RETAINED , retain
#endif
#endif
#ifndef VESTIGE_RETAINED
#define VESTIGE_RETAINED
#endif
#define VESTIGE_LISTED(name, text)							\
	static const char vestige_text_of_##name[]					\
		__attribute__((used, aligned(1), section(".vestige.events") VESTIGE_RETAINED)) = text;

#if LTTNG_UST_COMPAT_API(0)
#define tracepoint		lttng_ust_tracepoint
#define do_tracepoint		lttng_ust_do_tracepoint
#define tracepoint_enabled	lttng_ust_tracepoint_enabled
#define TP_ARGS			LTTNG_UST_TP_ARGS
#endif

#define VESTIGE_PLAIN_EVENT(provider, name, arguments)	\
	VESTIGE_DECLARE_POINT(provider, name, arguments)\
	VESTIGE_DEFINE_POINT(provider, name)

#endif /* VESTIGE_LTTNG_TRACEPOINT_H */

/* What follows may be said after another header has included this one. */

#if LTTNG_UST_COMPAT_API(0) && defined(TRACEPOINT_DEFINE) && \
	!defined(LTTNG_UST_TRACEPOINT_DEFINE)
#define LTTNG_UST_TRACEPOINT_DEFINE
#endif
#if LTTNG_UST_COMPAT_API(0) && defined(TRACEPOINT_PROBE_DYNAMIC_LINKAGE) && \
	!defined(LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE)
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#endif

#if defined(LTTNG_UST_TRACEPOINT_DEFINE) && !defined(VESTIGE_DEFINES_POINTS)
#define VESTIGE_DEFINES_POINTS
#undef VESTIGE_DEFINE_POINT

/* The reference makes the linker take the provider out of an archive. */
#ifdef LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#define VESTIGE_NEED_PROVIDER(provider, name)
#else
#define VESTIGE_NEED_PROVIDER(provider, name)						\
	extern int vestige_provider_of_##provider VESTIGE_PROVIDER_VISIBILITY;		\
	__attribute__((used, unused)) static int *const					\
		vestige_need_##provider##___##name = &vestige_provider_of_##provider;
#endif

#define VESTIGE_DEFINE_POINT(point_provider, point_name)				\
	VESTIGE_BEGIN_C									\
	VESTIGE_NEED_PROVIDER(point_provider, point_name)				\
	struct vestige_tracepoint VESTIGE_POINT(point_provider, point_name)		\
		VESTIGE_POINT_VISIBILITY = {						\
			sizeof(struct vestige_tracepoint), 0, #point_provider,		\
			#point_name, (void (*)(void)) 0,				\
			(const struct vestige_event *) 0,				\
			(struct vestige_tracepoint *) 0,				\
		};									\
	VESTIGE_REGISTER_POINT(point_provider, point_name)				\
	VESTIGE_LISTED(point_##point_provider##___##point_name,				\
		       "point\t" #point_provider "\t" #point_name)			\
	VESTIGE_END_C

#elif !defined(VESTIGE_DEFINE_POINT)
#define VESTIGE_DEFINE_POINT(provider, name)
#endif

/* What follows may change from one provider header to the next. */

#undef VESTIGE_POINT_VISIBILITY
#ifdef LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define VESTIGE_POINT_VISIBILITY __attribute__((visibility("hidden")))
#else
#define VESTIGE_POINT_VISIBILITY __attribute__((visibility("default")))
#endif

#undef VESTIGE_PROVIDER_VISIBILITY
#ifdef LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define VESTIGE_PROVIDER_VISIBILITY __attribute__((visibility("hidden")))
#else
#define VESTIGE_PROVIDER_VISIBILITY __attribute__((visibility("default")))
#endif

#ifndef LTTNG_UST_TRACEPOINT_EVENT
#include <vestige/declare-events.h>
#endif

#ifndef LTTNG_UST_TRACEPOINT_LOGLEVEL_ENUM_
#define LTTNG_UST_TRACEPOINT_LOGLEVEL_ENUM_
enum {
	LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_SYSTEM,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROGRAM,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROCESS,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_MODULE,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_UNIT,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG,
};
#if LTTNG_UST_COMPAT_API(0)
#define TRACEPOINT_ENUM			LTTNG_UST_TRACEPOINT_ENUM
#define TRACEPOINT_EVENT		LTTNG_UST_TRACEPOINT_EVENT
#define TRACEPOINT_EVENT_CLASS		LTTNG_UST_TRACEPOINT_EVENT_CLASS
/* Class and instance had one provider. */
#define TRACEPOINT_EVENT_INSTANCE(provider, event_class, name, arguments) \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(provider, event_class, provider, name, arguments)
#define TRACEPOINT_LOGLEVEL		LTTNG_UST_TRACEPOINT_LOGLEVEL
#define TRACEPOINT_MODEL_EMF_URI	LTTNG_UST_TRACEPOINT_MODEL_EMF_URI
#define TRACE_EMERG			LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG
#define TRACE_ALERT			LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT
#define TRACE_CRIT			LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT
#define TRACE_ERR			LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR
#define TRACE_WARNING			LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING
#define TRACE_NOTICE			LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE
#define TRACE_INFO			LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO
#define TRACE_DEBUG_SYSTEM		LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_SYSTEM
#define TRACE_DEBUG_PROGRAM		LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROGRAM
#define TRACE_DEBUG_PROCESS		LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROCESS
#define TRACE_DEBUG_MODULE		LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_MODULE
#define TRACE_DEBUG_UNIT		LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_UNIT
#define TRACE_DEBUG_FUNCTION		LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION
#define TRACE_DEBUG_LINE		LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE
#define TRACE_DEBUG			LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG
#endif
#endif
