/*
 * Requests to Valgrind, see "The Client Request mechanism" in its manual: rotations that leave a
 * register as it was, which Valgrind takes for a call. Elsewhere they do nothing.
 */
#ifndef VESTIGE_BASE_VALGRIND_H
#define VESTIGE_BASE_VALGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALGRIND_IS_HERE 0x1001u
#define VALGRIND_REGISTER_STACK 0x1501u

/* Ask; 0 where there is no Valgrind. */
static inline uintptr_t valgrind_request(uintptr_t request, const void *first, const void *second)
{
#if defined(__x86_64__)
	const volatile uintptr_t words[6] = {request, (uintptr_t) first, (uintptr_t) second};
	uintptr_t result = 0;

	__asm__ volatile("rolq $3, %%rdi\n\t"
			 "rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\t"
			 "rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(result)
			 : "a"(words)
			 : "memory", "cc");
	return result;
#else
	(void) request;
	(void) first;
	(void) second;
	return 0;
#endif
}

static inline bool valgrind_is_here(void)
{
	return valgrind_request(VALGRIND_IS_HERE, NULL, NULL);
}

/* Without that, Valgrind takes a change of the stack pointer for a stack that has grown. */
static inline void valgrind_register_stack(const char *start, const char *end)
{
	valgrind_request(VALGRIND_REGISTER_STACK, start, end - 1);
}

#endif
