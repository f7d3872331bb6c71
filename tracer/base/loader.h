/* What the auditing library tells the tracer. */
#ifndef VESTIGE_BASE_LOADER_H
#define VESTIGE_BASE_LOADER_H

#include <link.h>
#include <stdint.h>

enum loader_action {
	/* An object was mapped; none of its code has run. */
	LOADER_MAPPED,
	/* The destructors of an object have run. */
	LOADER_CLOSES,
	/* Objects are about to be unmapped, or the process is about to end. */
	LOADER_DELETES,
	/* Objects are about to be mapped, or all that were asked for are mapped or unmapped. */
	LOADER_ACTS,
};

/* Called by the dynamic linker's thread, which holds its lock, with the object that was mapped
 * or closes, else with the first of its namespace. */
typedef void loader_function(enum loader_action action, const struct link_map *map,
			     long name_space);

/* Called when the dynamic linker binds a function, in any thread: returns the address that it is to
 * store. The symbol is that of the object that has the function. */
typedef uintptr_t binding_function(const struct link_map *from, const struct link_map *to,
				   const ElfW(Sym) *symbol, uintptr_t address, const char *name);

#endif
