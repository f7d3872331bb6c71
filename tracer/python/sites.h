/* Where a program calls from, known again when it comes back (sites.c). */
#ifndef VESTIGE_PYTHON_SITES_H
#define VESTIGE_PYTHON_SITES_H

#include "native.h"

/* Where the last call came from, and the address that stands for its line. */
struct site {
	const PyObject *code;
	const char *instruction;
	uint64_t place;
	/* As codes_changes was. */
	uint32_t changes;
};

void sites_start(void);
/* The address of the line that the caller has come to, as a rule that of `last`. */
uint64_t site_of_caller(struct site *last);

#endif
