/*
 * Contexts: what is known of the thread and the process at an event, beside its fields.
 *
 * What needs a system call is asked once in each thread. What may change by calls of the
 * program only (credentials and namespaces) is asked again after such a call, see
 * credentials.c, and in a child process.
 */
#ifndef VESTIGE_CONTEXT_H
#define VESTIGE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTEXT_HIDDEN __attribute__((visibility("hidden")))

/* Find a context by its name; negative when there is none. Its number is that of its bit
 * among the settings. */
int context_find(const char *name, size_t length) CONTEXT_HIDDEN;
/* Bytes of a context in a record. */
unsigned int context_size(unsigned int number) CONTEXT_HIDDEN;
/* Whether it is a text, ended by a zero, else a number. */
bool context_is_text(unsigned int number) CONTEXT_HIDDEN;
const char *context_text(unsigned int number) CONTEXT_HIDDEN;
uint64_t context_number(unsigned int number, const void *ip) CONTEXT_HIDDEN;
/* The inode of a namespace, see namespaces(7), by the name of its context; 0 where it cannot be
 * told. */
uint64_t context_ask_namespace(const char *context) CONTEXT_HIDDEN;
/* Credentials or namespaces may have changed. */
void context_forget(void) CONTEXT_HIDDEN;

#endif
