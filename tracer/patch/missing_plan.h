/* Plans that are not there: asking the recorder for them, and telling it what came of others. */
#ifndef VESTIGE_PATCH_MISSING_PLAN_H
#define VESTIGE_PATCH_MISSING_PLAN_H

#include <link.h>

#include "../base/compiler.h"
#include "../objects/object.h"

/* Of <link.h>, where the including file asks for it. */
struct dl_phdr_info;

/* Ask for the plan of an object, whose build ID is known. NULL, and the file of the plan, negative
 * where there is nothing to do; or why there is none. */
const char *missing_plan_ask(const struct object *object, const struct dl_phdr_info *info,
			     int *file) HIDDEN;
/* Tell why an object is left alone; an empty name is that of the program. */
void missing_plan_tell(const char *reason, const char *name) HIDDEN;

#endif
