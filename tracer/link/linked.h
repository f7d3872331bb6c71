/* What the compiler is told of functions that are linked into programs and libraries. */
#ifndef VESTIGE_LINK_LINKED_H
#define VESTIGE_LINK_LINKED_H

/* Of one object alone. Weak: who says -llttng-ust twice links all of this twice, and the linker
 * takes the first of each. */
#define LINKED __attribute__((visibility("hidden"), weak))

#endif
