/*
 * Included before anything else, and by sources alone: what is compiled uses no vector registers.
 *
 * What comes between a caller and a function must leave them as they are, and saving all of
 * them takes longer than recording a call. Clang wants to see the end of it: sources have that as well.
 */
#ifndef VESTIGE_PATCH_GENERAL_REGISTERS_H
#define VESTIGE_PATCH_GENERAL_REGISTERS_H

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("general-regs-only"))), apply_to = function)
#else
#pragma GCC target("general-regs-only")
#endif
#endif

#endif
