/* Telling the recorder that a part of the tracing is of another build, and records nothing. */
#ifndef VESTIGE_REFUSAL_H
#define VESTIGE_REFUSAL_H

/* Given by the build. */
#ifndef VESTIGE_VERSION
#define VESTIGE_VERSION "unknown"
#endif

/* Write a line to the file of refusals in the directory of a trace, if the recorder has made
 * it: what agrees on what, its version, and its name; NULL is that of the program. */
void refusal_write(const char *directory, const char *agreement, const char *version,
		   const char *name) __attribute__((visibility("hidden")));

/* What this tracer agrees on, and its version, with a space between them. For the recorder, and
 * for vestige.instrument. */
extern const char vestige_agreement[];
/* For vestige.instrument: it is of another build than the tracer. */
void vestige_refuse(const char *agreement, const char *version, const char *name);

#endif
