/* Recordings that begin, change and end while the program runs; all by one thread. */
#ifndef VESTIGE_HOOKS_RECORDING_H
#define VESTIGE_HOOKS_RECORDING_H

#include <stddef.h>

#include "../agreement/agreement.h"
#include "../base/compiler.h"
#include "settings_words.h"

/* Begin a recording, go on with it after its end, or change its rules, which must stay where they
 * are as long as the process runs. */
enum joining_status recording_begin(const struct wanted *wanted, const char *rules,
				    size_t rules_size) HIDDEN;
/* End it: nothing more is recorded but what threads append at this moment. */
void recording_end(void) HIDDEN;
/* Record once more what is loaded. */
void recording_dump(void) HIDDEN;

#endif
