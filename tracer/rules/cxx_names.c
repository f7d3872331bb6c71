/*
 * Reads as much of a mangled name as a pattern is compared with: the qualified name.
 *
 * The grammar is that of the Itanium C++ ABI, section 5.1, "External Names". Template
 * arguments and parameters are passed over, which needs the grammar of types, but neither
 * substitutions nor expressions. The C++ library's own demangler allocates memory, which
 * a hook must not do.
 */
#include "cxx_names.h"

#include <stdint.h>
#include <string.h>

#define DEEPEST 64

struct reader {
	const char *at;
	char *name;
	size_t used;
	size_t size;
	/* Where the last component begins: constructors are named after it. */
	size_t last;
	/* Inside of what is passed over, nothing is written. */
	unsigned int silent;
	unsigned int depth;
	bool has_failed;
};

static void read_name(struct reader *reader);
static void skip_type(struct reader *reader);

static bool take(struct reader *reader, char expected)
{
	if (*reader->at != expected)
		return false;
	reader->at++;
	return true;
}

static bool fail(struct reader *reader)
{
	reader->has_failed = true;
	return false;
}

static void put(struct reader *reader, const char *text, size_t length)
{
	if (reader->silent)
		return;
	if (length >= reader->size - reader->used) {
		fail(reader);
		return;
	}
	memcpy(reader->name + reader->used, text, length);
	reader->used += length;
	reader->name[reader->used] = '\0';
}

static void begin_component(struct reader *reader)
{
	if (reader->used)
		put(reader, "::", 2);
	if (!reader->silent)
		reader->last = reader->used;
}

static void put_component(struct reader *reader, const char *text)
{
	begin_component(reader);
	put(reader, text, strlen(text));
}

static size_t read_number(struct reader *reader)
{
	size_t number = 0;

	while (*reader->at >= '0' && *reader->at <= '9' && number < SIZE_MAX / 20)
		number = number * 10 + (size_t) (*reader->at++ - '0');
	return number;
}

static void read_source_name(struct reader *reader)
{
	const size_t length = read_number(reader);
	static const char anonymous[] = "_GLOBAL__N_1";

	if (!length || strnlen(reader->at, length) < length) {
		fail(reader);
		return;
	}
	begin_component(reader);
	if (length == sizeof(anonymous) - 1 && !memcmp(reader->at, anonymous, length))
		put(reader, "(anonymous namespace)", 21);
	else
		put(reader, reader->at, length);
	reader->at += length;
}

/* ABI tags: [abi:cxx11]. */
static void skip_tags(struct reader *reader)
{
	reader->silent++;
	while (!reader->has_failed && take(reader, 'B'))
		read_source_name(reader);
	reader->silent--;
}

static void skip_types_until_end(struct reader *reader)
{
	while (!reader->has_failed && !take(reader, 'E'))
		skip_type(reader);
}

/* The value of a literal: of a type, or the name of an object. */
static void skip_literal(struct reader *reader)
{
	if (take(reader, '_')) {
		if (!take(reader, 'Z')) {
			fail(reader);
			return;
		}
		read_name(reader);
		skip_types_until_end(reader);
		return;
	}
	skip_type(reader);
	while (*reader->at && *reader->at != 'E')
		reader->at++;
	if (!take(reader, 'E'))
		fail(reader);
}

static void skip_arguments(struct reader *reader)
{
	reader->silent++;
	while (!reader->has_failed && !take(reader, 'E')) {
		if (take(reader, 'L'))
			skip_literal(reader);
		else if (take(reader, 'J') || take(reader, 'I'))
			skip_arguments(reader);
		else if (*reader->at == 'X' || !*reader->at)
			fail(reader);
		else
			skip_type(reader);
	}
	reader->silent--;
}

/* The number of a substitution, of a template parameter, or of one of several lambdas. */
static void skip_sequence(struct reader *reader)
{
	while ((*reader->at >= '0' && *reader->at <= '9') ||
	       (*reader->at >= 'A' && *reader->at <= 'Z'))
		reader->at++;
	if (!take(reader, '_'))
		fail(reader);
}

/* Behind the S. What it stands for is not kept: it is always in what is passed over, except
 * for those with names of their own. */
static void read_substitution(struct reader *reader)
{
	/* The letter, then the name. */
	static const char *const known[] = {
		"aallocator",     "bbasic_string",  "sbasic_string",
		"ibasic_istream", "obasic_ostream", "dbasic_iostream",
	};

	if (take(reader, 't')) {
		put_component(reader, "std");
		return;
	}
	for (size_t index = 0; index < sizeof(known) / sizeof(known[0]); index++) {
		if (take(reader, known[index][0])) {
			put_component(reader, "std");
			put_component(reader, known[index] + 1);
			return;
		}
	}
	skip_sequence(reader);
	put_component(reader, "?");
}

static void skip_function_type(struct reader *reader)
{
	take(reader, 'Y');
	while (!reader->has_failed && !take(reader, 'E')) {
		/* The reference qualifier of the function itself. */
		if ((*reader->at == 'R' || *reader->at == 'O') && reader->at[1] == 'E')
			reader->at++;
		else
			skip_type(reader);
	}
}

static void skip_type_of_two_letters(struct reader *reader)
{
	switch (*reader->at++) {
	case 'p':
	case 'o':
		skip_type(reader);
		break;
	case 'F':
		read_number(reader);
		if (!take(reader, '_') && !take(reader, 'b') && !take(reader, 'x'))
			fail(reader);
		break;
	case 'v':
		read_number(reader);
		take(reader, '_');
		skip_type(reader);
		break;
	case 'n':
	case 'a':
	case 'c':
	case 'd':
	case 'e':
	case 'f':
	case 'h':
	case 'i':
	case 's':
	case 'u':
		break;
	default:
		/* decltype() and others that hold expressions. */
		fail(reader);
	}
}

static void skip_array_type(struct reader *reader)
{
	read_number(reader);
	if (!take(reader, '_')) {
		fail(reader);
		return;
	}
	skip_type(reader);
}

static void skip_class_type(struct reader *reader)
{
	read_name(reader);
	if (take(reader, 'I'))
		skip_arguments(reader);
}

static void skip_type(struct reader *reader)
{
	const char code = *reader->at;

	if (++reader->depth > DEEPEST)
		fail(reader);
	reader->silent++;
	if (reader->has_failed) {
		/* Nothing more is read. */
	} else if (code && strchr("NSZ0123456789", code)) {
		skip_class_type(reader);
	} else if (code >= 'a' && code <= 'z' && code != 'u' && code != 'r') {
		reader->at++;
	} else if (code && strchr("PROKVrCG", code)) {
		reader->at++;
		skip_type(reader);
	} else if (code == 'D') {
		reader->at++;
		skip_type_of_two_letters(reader);
	} else if (code == 'F') {
		reader->at++;
		skip_function_type(reader);
	} else if (code == 'A') {
		reader->at++;
		skip_array_type(reader);
	} else if (code == 'M') {
		reader->at++;
		skip_type(reader);
		skip_type(reader);
	} else if (code == 'T') {
		reader->at++;
		skip_sequence(reader);
		if (take(reader, 'I'))
			skip_arguments(reader);
	} else if (code == 'U' || code == 'u') {
		reader->at++;
		read_source_name(reader);
		if (take(reader, 'I'))
			skip_arguments(reader);
		if (code == 'U')
			skip_type(reader);
	} else {
		fail(reader);
	}
	reader->silent--;
	reader->depth--;
}

static void read_operator(struct reader *reader)
{
	/* Two letters of code, then what is written in the source. */
	static const char *const known[] = {
		"nwnew", "nanew[]", "dldelete", "dadelete[]", "awco_await", "ps+",  "ng-",
		"ad&",   "de*",     "co~",      "pl+",        "mi-",        "ml*",  "dv/",
		"rm%",   "an&",     "or|",      "eo^",        "aS=",        "pL+=", "mI-=",
		"mL*=",  "dV/=",    "rM%=",     "aN&=",       "oR|=",       "eO^=", "ls<<",
		"rs>>",  "lS<<=",   "rS>>=",    "eq==",       "ne!=",       "lt<",  "gt>",
		"le<=",  "ge>=",    "ss<=>",    "nt!",        "aa&&",       "oo||", "pp++",
		"mm--",  "cm,",     "pm->*",    "pt->",       "cl()",       "ix[]",
	};

	if (!strncmp(reader->at, "cv", 2)) {
		/* A conversion: its type is left out. */
		reader->at += 2;
		put_component(reader, "operator");
		skip_type(reader);
		return;
	}
	for (size_t index = 0; index < sizeof(known) / sizeof(known[0]); index++) {
		if (strncmp(known[index], reader->at, 2) != 0)
			continue;
		put_component(reader, "operator");
		if (known[index][2] >= 'a')
			put(reader, " ", known[index][2] <= 'z');
		put(reader, known[index] + 2, strlen(known[index] + 2));
		reader->at += 2;
		return;
	}
	fail(reader);
}

/* A constructor or destructor, named after the class before it. */
static void read_special(struct reader *reader)
{
	const bool is_destructor = *reader->at == 'D';
	const size_t first = reader->last;
	const size_t length = reader->used - first;

	reader->at++;
	take(reader, 'I');
	if (*reader->at < '0' || *reader->at > '5') {
		fail(reader);
		return;
	}
	reader->at++;
	put(reader, "::~", is_destructor ? 3 : 2);
	if (!reader->silent && !reader->has_failed)
		put(reader, reader->name + first, length);
}

static void read_unnamed(struct reader *reader)
{
	reader->at++;
	if (take(reader, 't')) {
		put_component(reader, "{unnamed}");
	} else if (take(reader, 'l')) {
		put_component(reader, "{lambda}");
		skip_types_until_end(reader);
	} else {
		fail(reader);
		return;
	}
	skip_sequence(reader);
}

static void read_component(struct reader *reader)
{
	const char code = *reader->at;

	if (code >= '0' && code <= '9')
		read_source_name(reader);
	else if (code == 'C' || code == 'D')
		read_special(reader);
	else if (code == 'U')
		read_unnamed(reader);
	else if (code >= 'a' && code <= 'z')
		read_operator(reader);
	else
		fail(reader);
	skip_tags(reader);
}

static void read_nested(struct reader *reader)
{
	while (*reader->at == 'r' || *reader->at == 'V' || *reader->at == 'K')
		reader->at++;
	if (!take(reader, 'R'))
		take(reader, 'O');
	while (!reader->has_failed && !take(reader, 'E')) {
		if (take(reader, 'S')) {
			read_substitution(reader);
		} else if (take(reader, 'I')) {
			skip_arguments(reader);
		} else if (take(reader, 'T')) {
			skip_sequence(reader);
			put_component(reader, "?");
		} else if (!take(reader, 'L') && !take(reader, 'M')) {
			read_component(reader);
		}
	}
}

/* Something inside of a function: `f()::Local::method`. */
static void read_local(struct reader *reader)
{
	read_name(reader);
	if (take(reader, 'I'))
		skip_arguments(reader);
	reader->silent++;
	skip_types_until_end(reader);
	reader->silent--;
	if (take(reader, 's'))
		return;
	if (take(reader, 'd'))
		skip_sequence(reader);
	read_name(reader);
	/* Which of several with one name. */
	if (take(reader, '_')) {
		take(reader, '_');
		read_number(reader);
	}
}

static void read_name(struct reader *reader)
{
	if (++reader->depth > DEEPEST)
		fail(reader);
	if (reader->has_failed) {
		/* Nothing more is read. */
	} else if (take(reader, 'N')) {
		read_nested(reader);
	} else if (take(reader, 'Z')) {
		read_local(reader);
	} else {
		bool is_whole = false;

		if (take(reader, 'S')) {
			is_whole = *reader->at != 't';
			read_substitution(reader);
		}
		if (!is_whole) {
			take(reader, 'L');
			read_component(reader);
		}
	}
	reader->depth--;
}

bool cxx_name(const char *mangled, char *name, size_t size)
{
	struct reader reader = {.at = mangled + 2, .name = name, .size = size};

	if (mangled[0] != '_' || mangled[1] != 'Z' || !size)
		return false;
	name[0] = '\0';
	read_name(&reader);
	return !reader.has_failed && reader.used > 0;
}
