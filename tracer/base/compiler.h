/* What the compiler is told of symbols and branches. */
#ifndef VESTIGE_BASE_COMPILER_H
#define VESTIGE_BASE_COMPILER_H

/* Of the library alone: reached without a table, and replaced by no symbol of the program. */
#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))
#define INLINED inline __attribute__((always_inline))
#define APART __attribute__((noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
