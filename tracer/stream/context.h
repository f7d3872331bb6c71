/*
 * Contexts: what is known of the thread and the process at an event, beside its fields.
 *
 * What needs a system call is asked once in each thread. What may change by calls of the
 * program only (credentials and namespaces) is asked again after such a call, see
 * credentials.c, and in a child process.
 */
#ifndef VESTIGE_STREAM_CONTEXT_H
#define VESTIGE_STREAM_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "../base/settings.h"

/* Find a context by its name; negative when there is none. Its number is that of its bit among the
 * settings, but for counters: of these a channel has a list. */
int context_find(const char *name, size_t length) HIDDEN;
/* Bytes of a context, or of a counter, in a record. */
unsigned int context_size(unsigned int number) HIDDEN;
/* Whether it is a text, ended by a zero, else a number. */
bool context_is_text(unsigned int number) HIDDEN;
const char *context_text(unsigned int number) HIDDEN;
uint64_t context_number(unsigned int number, const void *ip) HIDDEN;
/* Write those of MORE_CONTEXTS that are chosen; returns where they end. */
char *contexts_write_more(char *at, struct context_choice choice) HIDDEN
	__attribute__((noinline, cold));
/* Credentials or namespaces may have changed. */
void context_forget(void) HIDDEN;

#endif
