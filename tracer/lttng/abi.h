/*
 * What programs that were compiled with LTTng-UST's headers hold and call, as far as a tracer
 * must know it: the layout of 2.13 and all later versions.
 *
 * Members are only added at the end, and struct_size tells which are there. Each structure here
 * ends with the last member of 2.13.
 */
#ifndef VESTIGE_LTTNG_ABI_H
#define VESTIGE_LTTNG_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Providers of 2.13 to 2.15, and from 2.16 on. */
#define UST_OLDEST_MAJOR 3u
#define UST_NEWEST_MAJOR 4u

/* Where a tracepoint calls, with the data before its own arguments. */
struct ust_probe {
	void (*function)(void);
	void *data;
};

/* A place in a program where an event may happen. */
struct ust_point {
	uint32_t struct_size;
	const char *provider;
	const char *name;
	/* Not zero while there are probes. */
	int state;
	/* Ended by one without a function. */
	struct ust_probe *probes;
	int *provider_reference;
	/* Types and names of the arguments. */
	const char *signature;
};

enum ust_kind {
	UST_INTEGER = 0,
	UST_STRING = 1,
	UST_FLOAT = 2,
	/* Of contexts alone. */
	UST_DYNAMIC = 3,
	UST_ENUM = 4,
	UST_ARRAY = 5,
	UST_SEQUENCE = 6,
	/* Of major 4. */
	UST_FIXED_BLOB = 8,
	UST_VARIABLE_BLOB = 9,
};

/* What all types begin with. */
struct ust_type {
	int kind;
	uint32_t struct_size;
};

struct ust_integer {
	struct ust_type type;
	/* Both in bits. */
	unsigned int size;
	unsigned short alignment;
	unsigned int is_signed : 1;
	unsigned int is_reversed : 1;
	unsigned int base;
};

struct ust_float {
	struct ust_type type;
	unsigned int exponent_bits;
	unsigned int mantissa_bits;
	unsigned short alignment;
	unsigned int is_reversed : 1;
};

struct ust_label_value {
	unsigned long long value;
	unsigned int is_signed : 1;
};

#define UST_LABEL_IS_AUTOMATIC 1u

struct ust_label {
	uint32_t struct_size;
	struct ust_label_value first;
	struct ust_label_value last;
	const char *text;
	unsigned int options;
};

struct ust_labels {
	uint32_t struct_size;
	const char *name;
	const struct ust_label *const *labels;
	unsigned int count;
};

struct ust_enum {
	struct ust_type type;
	const struct ust_labels *labels;
	const struct ust_type *container;
};

/* Not zero in front of the elements of a text. */
struct ust_array {
	struct ust_type type;
	const struct ust_type *element;
	unsigned int length;
	unsigned int alignment;
	int encoding;
};

/* The field before has the length. */
struct ust_sequence {
	struct ust_type type;
	const char *length_name;
	const struct ust_type *element;
	unsigned int alignment;
	int encoding;
};

struct ust_fixed_blob {
	struct ust_type type;
	unsigned int length;
	const char *media_type;
};

struct ust_field {
	uint32_t struct_size;
	const char *name;
	const struct ust_type *type;
	unsigned int is_not_written : 1;
	/* Nothing of it is on the stack of filters. */
	unsigned int is_not_filtered : 1;
};

struct ust_class {
	uint32_t struct_size;
	const struct ust_field *const *fields;
	size_t field_count;
	void (*probe)(void);
	const char *signature;
	const struct ust_provider *provider;
};

struct ust_event {
	uint32_t struct_size;
	const char *name;
	const struct ust_provider *provider;
	const struct ust_class *event_class;
	/* Addresses of variables, or NULL. */
	const int **log_level;
	const char **model_emf_uri;
};

struct ust_provider {
	uint32_t struct_size;
	const char *name;
	const struct ust_event *const *events;
	unsigned int event_count;
	uint32_t major;
	uint32_t minor;
};

/* What probes get from a tracer, as the data in front of their arguments: an ust_common. */

struct ust_place {
	uint32_t struct_size;
	void *ip;
};

enum ust_verdict { UST_ACCEPTED = 0, UST_REJECTED = 1 };

struct ust_common {
	uint32_t struct_size;
	void *private_data;
	/* 0: it records. */
	int kind;
	void *child;
	int is_enabled;
	int is_filtered;
	int (*filter)(const struct ust_common *common, const char *stack, struct ust_place *place,
		      void *context);
};

struct ust_recorder {
	uint32_t struct_size;
	struct ust_common *common;
	void *private_data;
	struct ust_channel *channel;
};

struct ust_session {
	uint32_t struct_size;
	void *private_data;
	int is_active;
};

struct ust_channel_common {
	uint32_t struct_size;
	void *private_data;
	int kind;
	void *child;
	int is_enabled;
	struct ust_session *session;
};

/* An event record that a probe writes. It is on the probe's stack, and the probe looks at it no
 * more once the record is reserved. */
struct ust_context {
	uint32_t struct_size;
	/* The recorder. */
	void *client;
	size_t size;
	int largest_alignment;
	struct ust_place *place;
	void *private_data;
};

struct ust_operations {
	uint32_t struct_size;
	void *private_data;
	/* Negative: no record is written. */
	int (*reserve)(struct ust_context *context);
	void (*commit)(struct ust_context *context);
	void (*write)(struct ust_context *context, const void *from, size_t size,
		      size_t alignment);
	/* Of a string, whose length with the zero was measured before. */
	void (*write_string)(struct ust_context *context, const char *from, size_t size);
	/* Of a text in an array or a sequence: what is behind a zero does not matter. */
	void (*write_text)(struct ust_context *context, const char *from, size_t size);
};

struct ust_channel {
	uint32_t struct_size;
	struct ust_channel_common *common;
	void *private_data;
	struct ust_operations *operations;
};

/* What a context is at an event: its type as the byte in records has it. */
struct ust_context_value {
	int type;
	union {
		int64_t integer;
		double real;
		const char *text;
	} as;
};

/* Which context is asked for. */
struct ust_application_context {
	uint32_t struct_size;
	const struct ust_field *field;
	const char *name;
};

/* Contexts with the provider's name before a colon. The first two functions are for ring buffers:
 * they give what the third one does. */
struct ust_context_provider {
	uint32_t struct_size;
	const char *name;
	size_t (*get_size)(const struct ust_application_context *which, struct ust_place *place,
			   size_t offset);
	void (*record)(const struct ust_application_context *which, struct ust_place *place,
		       struct ust_context *context, struct ust_channel *channel);
	void (*get_value)(const struct ust_application_context *which, struct ust_place *place,
			  struct ust_context_value *value);
	void *data;
};

_Static_assert(sizeof(struct ust_context_provider) == 48, "programs hold these");
_Static_assert(sizeof(struct ust_point) == 56, "programs hold copies of these");
_Static_assert(sizeof(struct ust_provider) == 40, "struct_size says so");

#endif
