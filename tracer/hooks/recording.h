/* Recordings that begin, change and end while the program runs; by one thread at a time. Each is of
 * one daemon, by the number of that: others do not see it. */
#ifndef VESTIGE_HOOKS_RECORDING_H
#define VESTIGE_HOOKS_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "../agreement/registration.h"
#include "../base/compiler.h"
#include "settings_words.h"

/* Begin a recording in a channel that is free, go on with it after its end, or change its rules, which must
 * stay where they are as long as the process runs. That to the memory with the other half of an inode
 * ends then, and no event goes to both; 0: none does. */
enum joining_status recording_begin(unsigned int daemon, const struct wanted *wanted,
				    const char *rules, size_t rules_size,
				    uint32_t replaced_half) HIDDEN;
/* End the one to an arena: nothing more is recorded but what threads append at this moment. */
void recording_end(unsigned int daemon, uint64_t arena) HIDDEN;
/* Record once more what is loaded. */
void recording_dump(unsigned int daemon, uint64_t arena) HIDDEN;
/* The arenas that are recorded to, by their inodes. */
void recording_tell(unsigned int daemon, uint64_t inodes[CHANNELS]) HIDDEN;

#endif
