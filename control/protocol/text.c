/*
 * Texts: see text.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "text.h"

#include <stdlib.h>
#include <string.h>

#define FILE_SCHEME "file://"

void control_copy(char *target, size_t size, const char *text)
{
	const size_t length = text ? strlen(text) : 0;
	const size_t kept = length < size ? length : size - 1;

	if (kept)
		memcpy(target, text, kept);
	target[kept] = '\0';
}

bool control_replace(char **target, const char *text)
{
	char *copy = NULL;

	if (text) {
		copy = strdup(text);
		if (!copy)
			return false;
	}
	free(*target);
	*target = copy;
	return true;
}

bool control_same_text(const char *first, const char *second)
{
	if (!first || !second)
		return first == second;
	return strcmp(first, second) == 0;
}

const char *control_local_path(const char *url)
{
	if (!url)
		return NULL;
	if (strncmp(url, FILE_SCHEME, sizeof(FILE_SCHEME) - 1) == 0)
		url += sizeof(FILE_SCHEME) - 1;
	return *url == '/' ? url : NULL;
}
