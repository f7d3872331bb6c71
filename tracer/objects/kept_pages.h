/* Pages of an object that is unloaded while a thread is in its code. */
#ifndef VESTIGE_OBJECTS_KEPT_PAGES_H
#define VESTIGE_OBJECTS_KEPT_PAGES_H

#include "../base/compiler.h"

/* Copy the object that has an address. The dynamic linker is about to unmap it. */
void kept_pages_copy(const void *address) HIDDEN;
/* Put back what has been unmapped since. */
void kept_pages_put_back(void) HIDDEN;

#endif
