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
#include <sys/types.h>
#include <unistd.h>

#include "context.h"
#include "objects.h"
#include "patterns.h"

#define SMALLEST_PACKET 4096u
#define LARGEST_PACKET (1u << 30)

struct settings settings;

/* The process that started the program. */
static pid_t recorder;

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
	const int number = context_find(name, length);

	if (number < 0)
		return;
	if (!(settings.contexts & 1u << number))
		settings.context_size += context_size((unsigned int) number);
	settings.contexts |= 1u << number;
}

static void add_event(const char *name, size_t length)
{
	if (length == 5 && !strncmp(name, "baddr", 5))
		settings.events |= EVENTS_BADDR;
}

/* Call a function with each word between commas. */
static void parse_list(const char *list, size_t length, void (*add)(const char *, size_t))
{
	const char *end = list + length;

	while (list < end) {
		const char *comma = memchr(list, ',', (size_t) (end - list));
		const char *stop = comma ? comma : end;

		add(list, (size_t) (stop - list));
		list = comma ? comma + 1 : end;
	}
}

static enum function_tracing parse_tracing(const char *value)
{
	return !strncmp(value, "fast", 4) ? FUNCTIONS_FAST
		: !strncmp(value, "verbose", 7) ? FUNCTIONS_VERBOSE
						: FUNCTIONS_OFF;
}

/* LTTng-UST's variables, see lttng-ust(3), and the same with our name. */
static void read_omissions(void)
{
	settings.without_objects = secure_getenv("LTTNG_UST_WITHOUT_BADDR_STATEDUMP") ||
		secure_getenv("VESTIGE_WITHOUT_BADDR_STATEDUMP");
	settings.without_procname = secure_getenv("LTTNG_UST_WITHOUT_PROCNAME_STATEDUMP") ||
		secure_getenv("VESTIGE_WITHOUT_PROCNAME_STATEDUMP");
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
		parse_list(value, length, add_context);
	else if (!strncmp(word, "mode=", 5))
		settings.is_overwriting = !strncmp(value, "overwrite", 9);
	else if (!strncmp(word, "max-size=", 9))
		settings.max_size = strtoull(value, NULL, 10);
	else if (!strncmp(word, "functions=", 10))
		settings.on_entry = settings.on_exit = parse_tracing(value);
	else if (!strncmp(word, "entries=", 8))
		settings.on_entry = parse_tracing(value);
	else if (!strncmp(word, "exits=", 6))
		settings.on_exit = parse_tracing(value);
	else if (!strncmp(word, "events=", 7))
		parse_list(value, length, add_event);
	else if (!strncmp(word, "rules=", 6))
		settings.has_rules = *value == '1';
	else if (!strncmp(word, "include=", 8))
		return filter_parse(value, length, false);
	else if (!strncmp(word, "exclude=", 8))
		return filter_parse(value, length, true);
	else if (!strncmp(word, "follow-fork=", 12))
		settings.follow_fork = *value != '0';
	else if (!strncmp(word, "recorder=", 9))
		recorder = (pid_t) strtol(value, NULL, 10);
	/* What a newer recorder asks for and we do not know is left alone. */
	return true;
}

void settings_stop(void)
{
	settings.is_recording = false;
	settings.on_entry = FUNCTIONS_OFF;
	settings.on_exit = FUNCTIONS_OFF;
}

static bool read_environment(void)
{
	const char *text = secure_getenv("VESTIGE_TRACER");

	if (!text || secure_getenv("VESTIGE_TRACER_OFF") || strncmp(text, "1 ", 2) != 0)
		return false;
	text += 2;
	settings.follow_fork = true;
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
	read_omissions();
	return settings.packet_size >= SMALLEST_PACKET &&
		settings.packet_size <= LARGEST_PACKET && settings.packet_size % 4096 == 0 &&
		(settings.max_size || !settings.is_overwriting);
}

bool settings_read(void)
{
	const bool is_recording = read_environment();
	bool is_filtered;

	if (settings.on_entry == FUNCTIONS_UNKNOWN)
		settings.on_entry = FUNCTIONS_OFF;
	if (settings.on_exit == FUNCTIONS_UNKNOWN)
		settings.on_exit = FUNCTIONS_OFF;
	/* A look at each function for the first time, also where it may be in an object that
	 * nobody told of. */
	is_filtered = patterns.count || !objects_are_told();
	if (is_filtered && settings.on_entry != FUNCTIONS_OFF)
		settings.on_entry |= FUNCTIONS_FILTERED;
	if (is_filtered && settings.on_exit != FUNCTIONS_OFF)
		settings.on_exit |= FUNCTIONS_FILTERED;
	/* The program itself, whatever it executes, has the recorder as its parent. */
	settings.is_recording = is_recording &&
		(settings.follow_fork || getppid() == recorder);
	if (!settings.is_recording)
		settings_stop();
	return settings.is_recording;
}
