/* Pages of an object that is unloaded while a thread is in its code. */
#ifndef VESTIGE_KEPT_PAGES_H
#define VESTIGE_KEPT_PAGES_H

#define KEPT_PAGES_HIDDEN __attribute__((visibility("hidden")))

/* Copy the object that has an address. The dynamic linker is about to unmap it. */
void kept_pages_copy(const void *address) KEPT_PAGES_HIDDEN;
/* Put back what has been unmapped since. */
void kept_pages_put_back(void) KEPT_PAGES_HIDDEN;

#endif
