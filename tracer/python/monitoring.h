/* Calls from sys.monitoring. */
#ifndef VESTIGE_PYTHON_MONITORING_H
#define VESTIGE_PYTHON_MONITORING_H

#include "native.h"

/* Learn of calls; false when this version of Python has no such thing. */
bool monitoring_start(bool builtins);

#endif
