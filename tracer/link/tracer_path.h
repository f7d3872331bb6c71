/* Where the tracer is, as the owner of a session daemon has written it. */
#ifndef VESTIGE_LINK_TRACER_PATH_H
#define VESTIGE_LINK_TRACER_PATH_H

#include <stdbool.h>

#include "linked.h"

/* Note where daemons may be, by the environment; false where this program must not register. */
bool vestige_link_choose_places(void) LINKED;
/* Load the tracer; false where no daemon has been, or where it is not to be trusted. */
bool vestige_link_load_tracer(void) LINKED;

#endif
