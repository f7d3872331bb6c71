/*
 * Texts: copies of them, in the fixed fields of public structures and on the heap.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_TEXT_H
#define VESTIGE_CONTROL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Copy as much as fits, always with an end; NULL is an empty text. */
void control_copy(char *target, size_t size, const char *text);

/* Put a copy in place of the text that is there; return false, and keep that, without memory. */
bool control_replace(char **target, const char *text);

/* Tell whether two texts are the same; NULL is one of its own. */
bool control_same_text(const char *first, const char *second);

/* Return the path that a URL of files means, NULL if it is none: "file:///P" or "/P". */
const char *control_local_path(const char *url);

#endif
