/*
 * Files on a disk that may be full and that may be limited.
 *
 * What the kernel would answer by a signal is found out, or made impossible, before.
 */
#ifndef VESTIGE_DISK_H
#define VESTIGE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_HIDDEN __attribute__((visibility("hidden")))

/* How large a file may be (RLIMIT_FSIZE). */
uint64_t disk_largest_file(void) DISK_HIDDEN;
/* Whether a system call succeeded that makes a file larger. */
bool disk_is_grown(long result) DISK_HIDDEN;
/* Create a file that is not there; a negative error number when that fails. */
int disk_create(const char *name) DISK_HIDDEN;
bool disk_write(int file, const void *from, size_t size, uint64_t offset) DISK_HIDDEN;
/* Write two pieces, one behind the other. */
bool disk_write_two(int file, const void *first, size_t first_size, const void *second,
		    size_t second_size, uint64_t offset) DISK_HIDDEN;
/* Give a file its blocks, so that no store to it fails when it is mapped. */
bool disk_allocate(int file, size_t size) DISK_HIDDEN;
/* Make the pages of a mapped file, so that no store needs memory. */
bool disk_populate(void *place, size_t size) DISK_HIDDEN;

#endif
