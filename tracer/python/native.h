/*
 * vestige.instrument: Python programs that tell the tracer what they do.
 *
 * For every Python from 3.11 on: only what its limited API has, and a few functions that are
 * looked for at run time. Everything here runs with the interpreter lock.
 */
#ifndef VESTIGE_PYTHON_NATIVE_H
#define VESTIGE_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <vestige/tracepoint-abi.h>

#include "../agreement/agreement.h"
#include "../base/compiler.h"

/* Without a function call; the C library has some room for libraries that come later. */
#define FAST_THREAD_LOCAL __attribute__((tls_model("initial-exec")))

/* The minor version of Python 3. */
static inline long minor_version(void)
{
	return strncmp(Py_GetVersion(), "3.", 2) == 0 ? strtol(Py_GetVersion() + 2, NULL, 10) : 0;
}

static inline void put(struct vestige_record *record, const void *bytes, size_t size)
{
	memcpy(record->at, bytes, size);
	record->at += size;
}

static inline void put_place(struct vestige_record *record, uint64_t place)
{
	record->at = encode_place(record->at, place);
}

#endif
