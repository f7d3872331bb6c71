/*
 * What a traced program and the tracer agree on.
 *
 * Programs keep these structures in their own memory; a tracer of any later version reads
 * them. So members are added at the end only, and struct_size tells which are there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_TRACEPOINT_ABI_H
#define VESTIGE_TRACEPOINT_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vestige_event;

/* What a thread says while it passes a tracepoint whose provider may be unloaded. */
struct vestige_passage {
	/* Where its stack is; zero when it passes none. */
	volatile uintptr_t inside;
};

/* What the tracer has in each thread, at the same distance from its thread pointer. */
struct vestige_thread {
	/* NULL before its first one, and where the thread cannot record. */
	struct vestige_passage *passage;
	/* Called before the first one. */
	void (*meet)(void);
};

/* A state of tracepoints: recorded, and what they call is never unloaded. */
#define VESTIGE_STAYS 1

/* A place in a program where an event may happen. */
struct vestige_tracepoint {
	uint32_t struct_size;
	/* Not zero while the event is recorded: the one thing that is tested at the place. It is
	 * VESTIGE_STAYS, or how far struct vestige_thread is from the thread pointer. */
	volatile int state;
	const char *provider;
	const char *name;
	/* Set by the tracer before state: what programs of earlier versions call, and the event,
	 * whose class has the probe that others call. When the provider has gone, it is an event
	 * whose probe does nothing. */
	void (*probe)(void);
	const struct vestige_event *event;
	struct vestige_tracepoint *next;
};

enum vestige_field_kind {
	VESTIGE_INTEGER,
	VESTIGE_FLOAT,
	VESTIGE_STRING,
	VESTIGE_ARRAY,
	VESTIGE_SEQUENCE,
	VESTIGE_ENUM,
	/* Takes part in nothing. */
	VESTIGE_UNUSED,
};

enum vestige_field_flags {
	VESTIGE_SIGNED = 1 << 0,
	VESTIGE_BIG_ENDIAN = 1 << 1,
	VESTIGE_HEXADECIMAL = 1 << 2,
	VESTIGE_TEXT = 1 << 3,
	/* For filters only. */
	VESTIGE_NOT_WRITTEN = 1 << 4,
};

/* A label of an enumeration field, for the values from first to last. */
struct vestige_label {
	const char *text;
	int64_t first;
	int64_t last;
	/* The value follows that of the label before. */
	int is_automatic;
};

struct vestige_enum {
	const char *provider;
	const char *name;
	const struct vestige_label *labels;
	size_t label_count;
};

struct vestige_field {
	const char *name;
	uint8_t kind;
	uint8_t flags;
	/* Bytes of an integer, a float or an element. */
	uint8_t size;
	/* Bytes of the length of a sequence. */
	uint8_t length_size;
	/* Elements of an array. */
	uint32_t length;
	const struct vestige_enum *labels;
};

/* What a filter sees of a field. */
struct vestige_value {
	union {
		int64_t integer;
		double real;
		const void *bytes;
	} as;
	/* Elements of an array or a sequence; bytes of a string. */
	size_t length;
};

/* As the kind of a context: at each event, what it calls stores another kind in the value's
 * `length`, or VESTIGE_UNUSED where there is nothing. */
#define VESTIGE_ANY 0x100

/* A context that a program knows of itself, `$app.PROVIDER:TYPE`; see vestige/context.h. */
struct vestige_context {
	uint32_t struct_size;
	/* VESTIGE_INTEGER, VESTIGE_FLOAT, VESTIGE_STRING or VESTIGE_ANY. */
	uint32_t kind;
	/* PROVIDER:TYPE. */
	const char *name;
	/* Called with `data` at an event that has the context, or whose filter asks for it: in any
	 * thread, and in signal handlers. A string ends with a zero. */
	void (*get)(void *data, struct vestige_value *value);
	void *data;
};

/* What events of one class have in common. */
struct vestige_event_class {
	uint32_t struct_size;
	uint32_t field_count;
	const struct vestige_field *fields;
	/* Called with the event, the instruction pointer and the tracepoint's arguments. */
	void (*probe)(void);
};

struct vestige_event {
	uint32_t struct_size;
	/* Given by the tracer: the event record class in the trace, and what else it needs.
	 * vestige.instrument, which agrees with the tracer on the classes of every recording,
	 * gives the ID of one; it is recorded whatever was asked for. */
	uint32_t id;
	const char *name;
	const struct vestige_event_class *event_class;
	/* NULL without. */
	const char *model_emf_uri;
	int32_t log_level;
	/* Given by the tracer, too: where it goes, if to several recordings. */
	uint32_t route;
	/* The program of a filter, or NULL. */
	const void *filter;
};

/* The events of one provider header in one provider package. */
struct vestige_provider {
	uint32_t struct_size;
	uint32_t event_count;
	const char *name;
	struct vestige_event *const *events;
	struct vestige_provider *next;
};

/* An event record that is being written. */
struct vestige_record {
	/* Where the next field goes. */
	char *at;
	/* The tracer's own. */
	uint64_t state[10];
};

struct vestige_tracer;

/* What is to be told of a tracer that comes while the program runs; one for each tracepoint and
 * each provider of an object. */
struct vestige_waiter {
	/* Called with the tracer, once; also with NULL, where there is none at first. */
	void (*start)(const struct vestige_tracer *tracer);
	struct vestige_waiter *next;
};

/*
 * What the tracer offers. A program finds it with dlsym(3) as vestige_tracer, so that it
 * needs no library to be linked or to run.
 */
struct vestige_tracer {
	uint32_t struct_size;
	uint32_t reserved;
	void (*add_tracepoint)(struct vestige_tracepoint *tracepoint);
	void (*remove_tracepoint)(struct vestige_tracepoint *tracepoint);
	void (*add_provider)(struct vestige_provider *provider);
	void (*remove_provider)(struct vestige_provider *provider);
	/* Make room for `size` bytes of fields; 0 when the record is dropped. */
	int (*begin)(const struct vestige_event *event, struct vestige_record *record,
		     size_t size, const void *ip);
	void (*commit)(struct vestige_record *record);
	/* Whether the event's filter takes these values, one for each field. */
	int (*passes)(const struct vestige_event *event, const struct vestige_value *values,
		      const void *ip);
	/* The present value of the recording's clock. */
	uint64_t (*now)(void);
	/* The same as begin, for an event that happened at `time`. Where the thread has
	 * recorded something since, the record has the time of that, and the answer is 2. */
	int (*begin_at)(const struct vestige_event *event, struct vestige_record *record,
			size_t size, const void *ip, uint64_t time);
	/* Let the thread have its data stream: it takes no events from before that. */
	void (*open)(void);
	/* Add a context, which stays; 0 when that cannot be done. */
	int (*add_context)(const struct vestige_context *context);
	/* Whether something is recorded, or a session daemon may say so at any time. */
	int (*is_recorded)(void);
};

#ifdef __cplusplus
}
#endif

#endif
