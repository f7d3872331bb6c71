/* What vestige.instrument, and the recorder, ask of the tracer. */
#ifndef VESTIGE_HOOKS_INSTRUMENT_H
#define VESTIGE_HOOKS_INSTRUMENT_H

/* What this tracer agrees on, and its version, with a space between them. For the recorder, and
 * for vestige.instrument. */
extern const char vestige_agreement[];
/* For vestige.instrument: it is of another build than the tracer. */
void vestige_refuse(const char *agreement, const char *version, const char *name);

#endif
