/*
 * Event record classes in TSDL (CTF 1.8.3), as the metadata tells them.
 *
 * The program writes the text to the arena, whose list of classes gives the ID, and the
 * collector writes it to the metadata.
 */
#include "event_class.h"

#include <stdbool.h>

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

static void write_labels(struct text *text, const struct vestige_field *field)
{
	const struct vestige_enum *labels = field->labels;
	/* Smaller ones hold no value that would look negative. */
	const bool is_unsigned = !(field->flags & VESTIGE_SIGNED) && field->size == 8;
	int64_t next = 0;

	text_format(text, " {");
	for (size_t index = 0; index < labels->label_count; index++) {
		const struct vestige_label *label = &labels->labels[index];
		const int64_t first = label->is_automatic ? next : label->first;
		const int64_t last = label->is_automatic ? next : label->last;

		text_format(text, "%s ", index ? "," : "");
		text_quote(text, label->text);
		text_format(text, is_unsigned ? " = %llu ... %llu" : " = %lld ... %lld",
			    (long long) first, (long long) last);
		next = (int64_t) ((uint64_t) last + 1);
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
		    provider->name, event->name, event->log_level);
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

uint32_t event_class_id(uint32_t channel, const struct vestige_provider *provider,
			const struct vestige_event *event)
{
	struct text body;
	int place = -1;

	if (!text_open(&body, LARGEST_CLASS))
		return 0;
	describe(&body, provider, event);
	if (!body.is_full)
		place = classes_find(&arenas[channel], body.start, text_size(&body),
				     process_id());
	text_close(&body);
	return place < 0 ? 0 : arenas[channel].first_class + (uint32_t) place;
}
