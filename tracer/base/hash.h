/* Hashes of names and texts, FNV-1a: nobody here has a reason to make two the same. */
#ifndef VESTIGE_BASE_HASH_H
#define VESTIGE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u

static inline uint64_t hash_byte(uint64_t hash, char byte)
{
	return (hash ^ (unsigned char) byte) * 0x100000001b3u;
}

static inline uint64_t hash_bytes(const char *bytes, size_t size)
{
	uint64_t hash = HASH_START;

	for (size_t index = 0; index < size; index++)
		hash = hash_byte(hash, bytes[index]);
	return hash;
}

#endif
