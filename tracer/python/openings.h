/* Openings: each time that a span begins (openings.c). */
#ifndef VESTIGE_PYTHON_OPENINGS_H
#define VESTIGE_PYTHON_OPENINGS_H

#include "values.h"

/* The fields of an entry that come before those of the program: number, parent, task. */
#define OPENING_FIELDS 3

struct opening;

struct span {
	PyObject_HEAD
	PyObject *entry;
	PyObject *exit;
	/* The values of the entry's fields, and the names of the last of them; or NULL. */
	PyObject *values;
	PyObject *names;
	/* The span with values where nothing is recorded, or NULL. */
	PyObject *idle;
	/* Openings that have not ended, the latest first; it holds them. */
	struct opening *open;
};

struct opening {
	PyObject_HEAD
	struct span *span;
	/* Where both events are, or NULL: where the caller is. */
	PyObject *code;
	/* What the context had when it began, or went on. */
	struct opening *before;
	/* The innermost one within, while a generator waits. */
	struct opening *inner;
	/* The others of its span. */
	struct opening *next;
	struct opening *previous;
	uint64_t id;
	uint64_t parent_id;
	/* Nanoseconds that a generator has waited, and since when it waits. */
	int64_t waited;
	int64_t waits_since;
	bool is_ended;
	/* It ended while others within it were open: they go back to what was before. */
	bool is_skipped;
};

/* The function is called when a `with` statement ends one. */
bool openings_start(PyObject *(*leave)(struct opening *opening, PyObject *failure));
/* What a context variable holds; a new reference, NULL when it holds nothing. */
PyObject *opening_read_variable(PyObject *variable);
/* A number that no other opening has. */
uint64_t opening_new_id(void);
/* That of the innermost one of the context, or 0. */
uint64_t opening_id_of_context(void);
/* Begin within the innermost opening of the context. NULL with an exception. */
struct opening *opening_new(struct span *span, PyObject *code);
/* The values of the first fields of its entry. What is returned holds the last of them, or NULL. */
PyObject *opening_values(const struct opening *opening, struct value *values);
/* The one of a span that a `with` statement ends; NULL when nobody knows. */
struct opening *opening_of(const struct span *span);
void opening_end(struct opening *opening);

#endif
