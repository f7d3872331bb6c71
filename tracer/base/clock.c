/* The counter for the recorder, which measures its rate. */
#include "clock.h"

#include "compiler.h"

EXPORTED uint64_t vestige_counter(void);

uint64_t vestige_counter(void)
{
	return clock_counter();
}
