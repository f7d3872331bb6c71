/*
 * The files of a data stream.
 *
 * `PID-TID.open` is mapped: the packet that is being filled. A packet that is complete is
 * appended to a data file, `PID-TID`, and in overwrite mode `ring-NUMBER`. Each file is a
 * valid CTF data stream file at any moment, whenever the process dies:
 *
 *   - a file is made under a hidden name, and gets its own when its first packet is in it;
 *   - a data file is longer than what is in it, and ends with an empty packet that covers
 *     the rest. The next packet is written into that rest, with another empty packet behind
 *     it; then the header, which makes both valid, in one piece.
 */
#ifndef VESTIGE_FILES_H
#define VESTIGE_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_SIZE (PATH_MAX + 64)

struct packet;
struct stream;

/* A file to which complete packets are appended. */
struct data_file {
	/* Where the next packet goes; 0 before there is a file. */
	uint64_t size;
	/* The length of the file. */
	uint64_t capacity;
	/* Where the blocks end that were allocated ahead. */
	uint64_t allocated;
	/* Of the files of the stream; in overwrite mode, of all chunks. */
	uint64_t number;
	/* The empty packet at `size`, mapped; NULL when it cannot be. */
	struct packet *cover;
	unsigned int place;
	/* Whether a chunk has its number, and no file yet. */
	bool is_reserved;
};

enum file_kind { FILE_OPEN, FILE_DATA, FILE_CHUNK };

#define FILES_HIDDEN __attribute__((visibility("hidden")))

/* The name of a file of the stream; before it is complete, its name is hidden. */
void files_name(const struct stream *stream, enum file_kind kind, uint64_t number,
		bool is_hidden, char name[NAME_SIZE]) FILES_HIDDEN;

/* Return how many bytes behind a stream, from its next page on, are for mapping files. */
size_t files_start(size_t size_of_page) FILES_HIDDEN;
/* Make the mapped file, still hidden; the stream's `instance_id` becomes one of its own. */
bool files_open(struct stream *stream) FILES_HIDDEN;
/* Show it, once it has a valid packet. */
bool files_show(struct stream *stream) FILES_HIDDEN;
/* Put another one in its place, larger or of the same size; the packet in it is empty. What
 * was mapped before stays mapped. */
bool files_move(struct stream *stream, bool is_larger) FILES_HIDDEN;
/* Remove it: its packet was appended. */
void files_close(struct stream *stream) FILES_HIDDEN;
/* Append the present packet to a data file. */
bool files_append(struct stream *stream) FILES_HIDDEN;
/* Remove a chunk by its number. */
void files_remove_chunk(uint64_t number) FILES_HIDDEN;

#endif
