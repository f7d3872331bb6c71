/* The version of Vestige. */
#ifndef VESTIGE_BASE_VERSION_H
#define VESTIGE_BASE_VERSION_H

/* Given by the build. */
#ifndef VESTIGE_VERSION
#define VESTIGE_VERSION "unknown"
#endif

#endif
