/*
 * Event record classes in TSDL (CTF 1.8.3), as the metadata tells them.
 *
 * The program writes the text to the arena, whose list of classes gives the ID, and the
 * collector writes it to the metadata.
 */
#include "event_class.h"

#include <string.h>

#include "../arena/classes.h"
#include "../base/process.h"
#include "../base/text.h"
#include "../stream/fields.h"

#define LARGEST_CLASS (1u << 20)

static void write_integer(struct text *text, const struct vestige_field *field)
{
	text_format(text, "integer { size = %u; align = 8; signed = %d; base = %d;%s%s }",
		    field->size * 8u, (field->flags & VESTIGE_SIGNED) != 0,
		    field->flags & VESTIGE_HEXADECIMAL ? 16 : 10,
		    field->flags & VESTIGE_TEXT ? " encoding = UTF8;" : "",
		    field->flags & VESTIGE_BIG_ENDIAN ? " byte_order = be;" : "");
}

/* The values of a label. */
struct range {
	int64_t first;
	int64_t last;
};

static struct range range_of(const struct vestige_label *label, int64_t *next)
{
	const struct range automatic = {*next, *next};
	const struct range range =
		label->is_automatic ? automatic : (struct range) {label->first, label->last};

	*next = (int64_t) ((uint64_t) range.last + 1);
	return range;
}

/* Smaller ones hold no value that would look negative. */
static bool has_large_labels(const struct vestige_field *field)
{
	return !(field->flags & VESTIGE_SIGNED) && field->size == 8;
}

static void write_labels(struct text *text, const struct vestige_field *field)
{
	const struct vestige_enum *labels = field->labels;
	const bool is_large = has_large_labels(field);
	int64_t next = 0;

	text_format(text, " {");
	for (size_t index = 0; index < labels->label_count; index++) {
		const struct vestige_label *label = &labels->labels[index];
		const struct range range = range_of(label, &next);

		text_format(text, "%s ", index ? "," : "");
		text_quote(text, label->text);
		text_format(text, is_large ? " = %llu ... %llu" : " = %lld ... %lld",
			    (long long) range.first, (long long) range.last);
	}
	text_format(text, " }");
}

static void write_field(struct text *text, const struct vestige_field *field)
{
	switch (field->kind) {
	case VESTIGE_INTEGER:
		write_integer(text, field);
		text_format(text, " _%s", field->name);
		break;
	case VESTIGE_FLOAT:
		text_format(text,
			    "floating_point { exp_dig = %d; mant_dig = %d; align = 8; } _%s",
			    field->size == 4 ? 8 : 11, field->size == 4 ? 24 : 53, field->name);
		break;
	case VESTIGE_STRING:
		text_format(text, "string _%s", field->name);
		break;
	case VESTIGE_ARRAY:
		write_integer(text, field);
		text_format(text, " _%s[%u]", field->name, field->length);
		break;
	case VESTIGE_SEQUENCE:
		/* Readers take no signed length; none is negative. */
		text_format(text, "integer { size = %u; align = 8; signed = 0; } __%s_length; ",
			    field->length_size * 8u, field->name);
		write_integer(text, field);
		text_format(text, " _%s[__%s_length]", field->name, field->name);
		break;
	case VESTIGE_ENUM:
		/* One without labels is none to readers. */
		if (field->labels->label_count)
			text_format(text, "enum : ");
		write_integer(text, field);
		if (field->labels->label_count)
			write_labels(text, field);
		text_format(text, " _%s", field->name);
		break;
	default:
		return;
	}
	text_format(text, "; ");
}

/* All of the class but its ID. */
static void describe(struct text *text, const struct vestige_provider *provider,
		     const struct vestige_event *event)
{
	const struct vestige_event_class *class = event->event_class;

	text_format(text, "\tname = \"%s:%s\";\n\tstream_id = 0;\n\tloglevel = %d;\n",
		    provider->name, event->name,
		    /* Readers take no negative one. */
		    event->log_level < 0 ? 0 : event->log_level);
	if (event->model_emf_uri) {
		text_format(text, "\tmodel.emf.uri = ");
		text_quote(text, event->model_emf_uri);
		text_format(text, ";\n");
	}
	text_format(text, "\tfields := struct { ");
	for (uint32_t index = 0; index < class->field_count; index++)
		if (!(class->fields[index].flags & VESTIGE_NOT_WRITTEN))
			write_field(text, &class->fields[index]);
	text_format(text, "};\n");
}

static bool is_written(const struct vestige_field *field)
{
	return !(field->flags & VESTIGE_NOT_WRITTEN);
}

/* Whether a name is that of the length that a sequence gets. */
static bool is_length_of(const char *name, const struct vestige_field *sequence)
{
	const size_t length = strlen(sequence->name);

	return sequence->kind == VESTIGE_SEQUENCE && name[0] == '_' &&
		!strncmp(name + 1, sequence->name, length) &&
		!strcmp(name + 1 + length, "_length");
}

static bool has_two_of_a_name(const struct vestige_event_class *class)
{
	for (uint32_t index = 0; index < class->field_count; index++)
		for (uint32_t before = 0; before < index; before++) {
			const struct vestige_field *one = &class->fields[index];
			const struct vestige_field *other = &class->fields[before];

			if (is_written(one) && is_written(other) &&
			    (!strcmp(one->name, other->name) || is_length_of(one->name, other) ||
			     is_length_of(other->name, one)))
				return true;
		}
	return false;
}

static bool has_reversed_label(const struct vestige_field *field)
{
	const bool is_large = has_large_labels(field);
	int64_t next = 0;

	for (size_t index = 0; index < field->labels->label_count; index++) {
		const struct range range = range_of(&field->labels->labels[index], &next);

		if (is_large ? (uint64_t) range.last < (uint64_t) range.first
			     : range.last < range.first)
			return true;
	}
	return false;
}

bool event_class_is_readable(const struct vestige_event_class *class)
{
	for (uint32_t index = 0; index < class->field_count; index++) {
		const struct vestige_field *field = &class->fields[index];

		if (field->kind == VESTIGE_ENUM && is_written(field) && has_reversed_label(field))
			return false;
	}
	return !has_two_of_a_name(class);
}

uint32_t event_class_id(uint32_t channel, const struct vestige_provider *provider,
			const struct vestige_event *event)
{
	struct text body;
	int place = -1;

	if (!event_class_is_readable(event->event_class) || !text_open(&body, LARGEST_CLASS))
		return 0;
	describe(&body, provider, event);
	if (!body.is_full)
		place = classes_find(&arenas[channel], body.start, text_size(&body),
				     process_id());
	text_close(&body);
	return place < 0 ? 0 : arenas[channel].first_class + (uint32_t) place;
}
