/*
 * Variables that programs refer to which were built with the bindings of LTTng for Python. They
 * were options of commands, and mean nothing here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "leftovers.h"

int lttng_opt_quiet;
int lttng_opt_verbose;
int lttng_opt_mi;
