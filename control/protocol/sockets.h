/*
 * Which daemon a program means.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_SOCKETS_H
#define VESTIGE_CONTROL_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Write the path of a daemon's socket that is to be tried; return false if there is no such one.
 * They are numbered from 0; the first that answers is the right one. A path that does not fit
 * is empty.
 */
bool control_socket_path(unsigned int number, char *path, size_t size);

/* Write the directory of what this user saves; return false if there is no home. */
bool control_home(char *path, size_t size);

#endif
