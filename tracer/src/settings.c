/*
 * The recorder tells the tracer what to do in one environment variable, which passes
 * through exec:
 *
 *     VESTIGE_TRACER="1 key=value ... directory=PATH"
 *
 * 1 is the version of this agreement. The directory comes last, since it may hold spaces.
 * VESTIGE_TRACER_OFF, set to anything, makes the tracer inert.
 */
#define _GNU_SOURCE
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "packet.h"

#define SMALLEST_PACKET 4096u
#define LARGEST_PACKET (1u << 30)

struct settings settings;

static bool parse_uuid(const char *text)
{
	for (size_t index = 0; index < sizeof(settings.uuid); index++) {
		char digits[3] = {text[2 * index], digits[0] ? text[2 * index + 1] : '\0', '\0'};
		char *end;

		settings.uuid[index] = (uint8_t) strtoul(digits, &end, 16);
		if (end != digits + 2)
			return false;
	}
	return true;
}

static void add_context(const char *name, size_t length)
{
	static const struct {
		const char *name;
		enum context context;
		unsigned int size;
	} known[] = {
		{"ip", CONTEXT_IP, PLACE_SIZE},
		{"vpid", CONTEXT_VPID, ID_SIZE},
		{"vtid", CONTEXT_VTID, ID_SIZE},
		{"procname", CONTEXT_PROCNAME, PROCNAME_SIZE + 1},
	};

	for (size_t index = 0; index < sizeof(known) / sizeof(known[0]); index++) {
		if (strlen(known[index].name) != length ||
		    strncmp(known[index].name, name, length) != 0)
			continue;
		if (!(settings.contexts & known[index].context))
			settings.context_size += known[index].size;
		settings.contexts |= known[index].context;
	}
}

static void parse_contexts(const char *list, size_t length)
{
	const char *end = list + length;

	while (list < end) {
		const char *comma = memchr(list, ',', (size_t) (end - list));
		const char *stop = comma ? comma : end;

		add_context(list, (size_t) (stop - list));
		list = comma ? comma + 1 : end;
	}
}

static bool parse_word(const char *word, size_t length)
{
	const char *value = memchr(word, '=', length);

	if (!value)
		return false;
	value++;
	length -= (size_t) (value - word);
	if (!strncmp(word, "uuid=", 5))
		return length == 32 && parse_uuid(value);
	if (!strncmp(word, "packet=", 7))
		settings.packet_size = strtoul(value, NULL, 10);
	else if (!strncmp(word, "clock=", 6))
		settings.counter_is_clock = !strncmp(value, "counter", 7);
	else if (!strncmp(word, "contexts=", 9))
		parse_contexts(value, length);
	else if (!strncmp(word, "functions=", 10))
		settings.functions = !strncmp(value, "fast", 4) ? FUNCTIONS_FAST
			: !strncmp(value, "verbose", 7)         ? FUNCTIONS_VERBOSE
								: FUNCTIONS_OFF;
	/* What a newer recorder asks for and we do not know is left alone. */
	return true;
}

static bool read_environment(void)
{
	const char *text = secure_getenv("VESTIGE_TRACER");

	if (!text || secure_getenv("VESTIGE_TRACER_OFF") || strncmp(text, "1 ", 2) != 0)
		return false;
	text += 2;
	while (strncmp(text, "directory=", 10) != 0) {
		const char *space = strchr(text, ' ');

		if (!space || !parse_word(text, (size_t) (space - text)))
			return false;
		text = space + 1;
	}
	text += 10;
	if (text[0] != '/' || strlen(text) >= sizeof(settings.directory))
		return false;
	strcpy(settings.directory, text);
	return settings.packet_size >= SMALLEST_PACKET &&
		settings.packet_size <= LARGEST_PACKET && settings.packet_size % 4096 == 0;
}

bool settings_read(void)
{
	settings.is_recording = read_environment();
	if (!settings.is_recording || settings.functions == FUNCTIONS_UNKNOWN)
		settings.functions = FUNCTIONS_OFF;
	return settings.is_recording;
}
