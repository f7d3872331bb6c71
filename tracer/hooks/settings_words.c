/*
 * The recorder tells the tracer what to do in one environment variable, which passes through
 * exec; tracer/agreement/settings.py has its words.
 */
#define _GNU_SOURCE
#include "settings_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "../base/refusal.h"
#include "../base/settings.h"
#include "../base/version.h"
#include "../rules/patterns.h"
#include "../stream/application.h"
#include "../stream/context.h"
#include "../stream/context_list.h"
#include "../stream/perf_counter.h"
#include "../stream/record.h"

/* What the words are read to. */
static struct wanted *wanted;
/* The counters and contexts of the program among these. */
static struct context_list listed;
/* The process that started the program. */
static pid_t recorder;

static bool parse_text(char *to, size_t size, const char *from, size_t length)
{
	if (length >= size)
		return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

static bool parse_arena(const char *value, size_t length)
{
	return parse_text(wanted->place.path, sizeof(wanted->place.path), value, length);
}

static bool parse_arena_id(const char *value, size_t length)
{
	(void) length;
	wanted->place.inode = strtoull(value, NULL, 10);
	return true;
}

static bool parse_socket(const char *value, size_t length)
{
	return parse_text(wanted->place.socket, sizeof(wanted->place.socket), value, length);
}

static bool parse_token(const char *value, size_t length)
{
	if (length != 2 * ARENA_TOKEN_SIZE)
		return length == 0;
	for (size_t index = 0; index < ARENA_TOKEN_SIZE; index++) {
		const char digits[3] = {value[2 * index], value[2 * index + 1], '\0'};
		char *end;

		wanted->place.token[index] = (uint8_t) strtoul(digits, &end, 16);
		if (end != digits + 2)
			return false;
	}
	return true;
}

static bool parse_inherited(const char *value, size_t length)
{
	char *end;

	if (!length)
		return true;
	wanted->place.inherited = (int) strtol(value, &end, 10);
	if (*end != ',')
		return false;
	wanted->place.inherited_inode = strtoull(end + 1, NULL, 10);
	return true;
}

static bool begins_with(const char *name, size_t length, const char *prefix)
{
	return length > strlen(prefix) && !memcmp(name, prefix, strlen(prefix));
}

static uint8_t list_number(int number)
{
	return number < 0 || number >= NO_NUMBER ? NO_NUMBER : (uint8_t) number;
}

/* Each has its place, also where there are too many others to have a number. */
static void add_counter(struct context_choice *choice, const char *name, size_t length)
{
	if (listed.counter_count == MOST_COUNTERS)
		return;
	listed.counters[listed.counter_count++] = list_number(perf_counter_find(name, length));
	choice->chosen |= CONTEXT_COUNTERS;
	choice->size += COUNTER_SIZE;
}

static void add_application(struct context_choice *choice, const char *name, size_t length)
{
	if (listed.application_count == MOST_APPLICATION_CONTEXTS)
		return;
	listed.applications[listed.application_count++] =
		list_number(application_find(name, length));
	if (!(choice->chosen & CONTEXT_APPLICATION))
		choice->size += APPLICATION_EXCESS;
	choice->chosen |= CONTEXT_APPLICATION;
}

static void add_context(const char *name, size_t length)
{
	struct context_choice choice = settings_contexts(&wanted->settings.channels[0]);

	if (begins_with(name, length, COUNTER_PREFIX)) {
		add_counter(&choice, name, length);
	} else if (begins_with(name, length, APPLICATION_PREFIX)) {
		add_application(&choice, name, length);
	} else {
		const int number = context_find(name, length);

		if (number < 0 || choice.chosen & 1u << number)
			return;
		choice.size += (uint16_t) context_size((unsigned int) number);
		choice.chosen |= 1u << number;
	}
	settings_choose_contexts(&wanted->settings.channels[0], choice);
}

static void add_event(const char *name, size_t length)
{
	if (length == 5 && !strncmp(name, "baddr", 5))
		wanted->settings.channels[0].events |= EVENTS_BADDR;
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

/* The number of a word among others; negative when it is none of them. */
static int find_word(const char *value, size_t length, const char *const *words, int count)
{
	for (int number = 0; number < count; number++)
		if (strlen(words[number]) == length && !memcmp(words[number], value, length))
			return number;
	return -1;
}

#define FIND_WORD(value, length, ...)                                 \
	find_word(value, length, (const char *const[]) {__VA_ARGS__}, \
		  sizeof((const char *const[]) {__VA_ARGS__}) / sizeof(const char *))

static bool parse_tracing(const char *value, size_t length, enum function_tracing *tracing)
{
	const int number = FIND_WORD(value, length, FUNCTION_TRACING_WORDS);

	if (number >= 0)
		*tracing = (enum function_tracing)((int) FUNCTIONS_OFF + number);
	return number >= 0;
}

static bool parse_clock(const char *value, size_t length)
{
	const int number = FIND_WORD(value, length, CLOCK_KIND_WORDS);

	wanted->settings.counter_is_clock = number == (int) CLOCK_KIND_COUNTER;
	return number >= 0;
}

static bool parse_contexts(const char *value, size_t length)
{
	struct context_choice choice;
	int list;

	memset(&listed, 0, sizeof(listed));
	parse_list(value, length, add_context);
	list = context_list_find(&listed);
	choice = settings_contexts(&wanted->settings.channels[0]);
	choice.list = (uint16_t) list;
	settings_choose_contexts(&wanted->settings.channels[0], choice);
	return list >= 0;
}

static bool parse_entries(const char *value, size_t length)
{
	return parse_tracing(value, length, &wanted->settings.on_entry);
}

static bool parse_exits(const char *value, size_t length)
{
	return parse_tracing(value, length, &wanted->settings.on_exit);
}

static bool parse_events(const char *value, size_t length)
{
	parse_list(value, length, add_event);
	return true;
}

static bool parse_follow_fork(const char *value, size_t length)
{
	(void) length;
	wanted->settings.follow_fork = *value != '0';
	return true;
}

static bool parse_recorder(const char *value, size_t length)
{
	(void) length;
	recorder = (pid_t) strtol(value, NULL, 10);
	return true;
}

static bool parse_include(const char *value, size_t length)
{
	return patterns_parse(value, length, false);
}

static bool parse_exclude(const char *value, size_t length)
{
	return patterns_parse(value, length, true);
}

static bool parse_plans(const char *value, size_t length)
{
	wanted->settings.has_plans = length == 1 && *value == '1';
	return true;
}

static bool parse_library_calls(const char *value, size_t length)
{
	return parse_text(wanted->settings.library_calls, sizeof(wanted->settings.library_calls),
			  value, length);
}

static bool parse_library_entries(const char *value, size_t length)
{
	return parse_tracing(value, length, &wanted->settings.on_library_entry);
}

static bool parse_library_exits(const char *value, size_t length)
{
	return parse_tracing(value, length, &wanted->settings.on_library_exit);
}

static bool parse_plan_wait(const char *value, size_t length)
{
	(void) length;
	wanted->settings.plan_wait = (uint32_t) strtoul(value, NULL, 10);
	return true;
}

static bool parse_python(const char *value, size_t length)
{
	(void) value;
	(void) length;
	return true;
}

static const struct {
	const char *name;
	bool (*parse)(const char *value, size_t length);
} words[] = {
#define WORD(name, text) {text, parse_##name},
	FOR_EACH_SETTING(WORD)
#undef WORD
};

/* LTTng-UST's variables, see lttng-ust(3), and the same with our name. */
static void read_omissions(void)
{
	wanted->settings.without_objects = secure_getenv("LTTNG_UST_WITHOUT_BADDR_STATEDUMP") ||
		secure_getenv("VESTIGE_WITHOUT_BADDR_STATEDUMP");
	wanted->settings.without_procname =
		secure_getenv("LTTNG_UST_WITHOUT_PROCNAME_STATEDUMP") ||
		secure_getenv("VESTIGE_WITHOUT_PROCNAME_STATEDUMP");
}

static bool parse_word(const char *word, size_t length)
{
	const char *equals = memchr(word, '=', length);
	const size_t name_length = equals ? (size_t) (equals - word) : 0;

	for (size_t index = 0; name_length && index < sizeof(words) / sizeof(words[0]); index++)
		if (strlen(words[index].name) == name_length &&
		    !memcmp(words[index].name, word, name_length))
			return words[index].parse(equals + 1, length - name_length - 1);
	return false;
}

/* What comes after a text at the beginning of another one; NULL when it begins otherwise. */
static const char *after(const char *text, const char *start)
{
	const size_t length = strlen(start);

	return strncmp(text, start, length) == 0 ? text + length : NULL;
}

/* Find the words; NULL when they are for a tracer that agrees on something else, which the
 * recorder is told. */
static const char *find_words(const char *text)
{
	const char *agreement = after(text, SETTINGS_HEAD);
	const char *words_begin = agreement ? after(agreement, AGREEMENT " ") : NULL;
	const char *directory = NULL;

	if (agreement && !words_begin)
		directory = strstr(agreement, " " SETTINGS_TAIL);
	if (directory)
		refusal_write(directory + strlen(" " SETTINGS_TAIL), AGREEMENT, VESTIGE_VERSION,
			      NULL);
	return words_begin;
}

bool settings_words_parse(const char *text, struct wanted *found)
{
	const char *directory;

	wanted = found;
	text = find_words(text);
	if (!text)
		return false;
	wanted->settings.follow_fork = true;
	while (!(directory = after(text, SETTINGS_TAIL))) {
		const char *space = strchr(text, ' ');

		if (!space || !parse_word(text, (size_t) (space - text)))
			return false;
		text = space + 1;
	}
	read_omissions();
	if (!parse_text(wanted->settings.directory, sizeof(wanted->settings.directory), directory,
			strlen(directory)))
		return false;
	if (!strcmp(wanted->place.path, ARENA_IN_DIRECTORY) &&
	    snprintf(wanted->place.path, sizeof(wanted->place.path), "%s/" ARENA_FILE,
		     directory) >= (int) sizeof(wanted->place.path))
		return false;
	return wanted->place.path[0] || wanted->place.socket[0];
}

bool settings_words_read(struct wanted *found)
{
	const char *text = secure_getenv(SETTINGS_VARIABLE);

	if (!text || secure_getenv(OFF_VARIABLE) || !settings_words_parse(text, found))
		return false;
	/* The program itself, whatever it executes, has the recorder as its parent. */
	return found->settings.follow_fork || getppid() == recorder;
}
