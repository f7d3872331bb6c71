/*
 * Descriptions come from programs, which may be of a later version, or damaged. So what is unknown is
 * refused, and no name gets into the metadata that would break it.
 */
#include "describe.h"

#include <string.h>

#include "../agreement/agreement.h"
#include "../base/text.h"

#define MOST_FIELDS 4096u
#define MOST_LABELS (1u << 20)
/* See LTTNG_UST_TRACEPOINT_NAME_LEN_MAX. */
#define LONGEST_NAME 256u
#define USUAL_LEVEL 13

static bool is_letter(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
		character == '_';
}

static bool is_identifier(const char *name)
{
	size_t length = 0;

	if (!name)
		return false;
	for (; name[length]; length++)
		if (length == LONGEST_NAME ||
		    (!is_letter(name[length]) && (name[length] < '0' || name[length] > '9')))
			return false;
	return length > 0;
}

/* Compilers take letters of all languages in names of events. */
bool describe_can_name(const char *name)
{
	size_t length = 0;

	if (!name)
		return false;
	while (name[length]) {
		const size_t size = text_character_size(name + length);

		if (!size || length + size > LONGEST_NAME || (unsigned char) name[length] < ' ' ||
		    name[length] == '"' || name[length] == '\\' || name[length] == '\x7f')
			return false;
		length += size;
	}
	return length > 0;
}

static bool is_whole(const struct ust_type *type, size_t size)
{
	return type->struct_size >= size;
}

static const char *take_integer(struct vestige_field *field, const struct ust_type *type)
{
	const struct ust_integer *integer = (const void *) type;

	if (!type || type->kind != UST_INTEGER || !is_whole(type, sizeof(*integer)))
		return SKIPPED_FIELDS;
	if (integer->alignment > 8)
		return SKIPPED_ALIGNMENT;
	if (integer->size != 8 && integer->size != 16 && integer->size != 32 &&
	    integer->size != 64)
		return SKIPPED_FIELDS;
	field->size = (uint8_t) (integer->size / 8);
	if (integer->is_signed)
		field->flags |= VESTIGE_SIGNED;
	if (integer->base == 16)
		field->flags |= VESTIGE_HEXADECIMAL;
	if (integer->is_reversed)
		field->flags |= VESTIGE_BIG_ENDIAN;
	return NULL;
}

static const char *take_float(struct vestige_field *field, const struct ust_type *type)
{
	const struct ust_float *real = (const void *) type;

	if (!is_whole(type, sizeof(*real)) || real->is_reversed)
		return SKIPPED_FIELDS;
	if (real->alignment > 8)
		return SKIPPED_ALIGNMENT;
	if (real->mantissa_bits != 24 && real->mantissa_bits != 53)
		return SKIPPED_FIELDS;
	field->kind = VESTIGE_FLOAT;
	field->size = real->mantissa_bits == 24 ? 4 : 8;
	return NULL;
}

static const char *take_labels(struct vestige_field *field, const struct ust_labels *from,
			       struct pool *pool)
{
	struct vestige_enum *labels = pool_take(pool, 1, sizeof(*labels));
	struct vestige_label *all;

	if (!from || from->struct_size < sizeof(*from) || (from->count && !from->labels) ||
	    from->count > MOST_LABELS)
		return SKIPPED_FIELDS;
	all = pool_take(pool, from->count, sizeof(*all));
	if (!labels || !all)
		return SKIPPED_MEMORY;
	for (unsigned int index = 0; index < from->count; index++) {
		const struct ust_label *label = from->labels[index];

		if (!label || label->struct_size < sizeof(*label) || !label->text)
			return SKIPPED_FIELDS;
		all[index] = (struct vestige_label) {
			.text = label->text,
			.first = (int64_t) label->first.value,
			.last = (int64_t) label->last.value,
			.is_automatic = (label->options & UST_LABEL_IS_AUTOMATIC) != 0,
		};
	}
	labels->name = from->name;
	labels->labels = all;
	labels->label_count = from->count;
	field->labels = labels;
	return NULL;
}

static const char *take_enum(struct vestige_field *field, const struct ust_type *type,
			     struct pool *pool)
{
	const struct ust_enum *from = (const void *) type;
	const char *wrong;

	if (!is_whole(type, sizeof(*from)))
		return SKIPPED_FIELDS;
	wrong = take_integer(field, from->container);
	field->kind = VESTIGE_ENUM;
	return wrong ? wrong : take_labels(field, from->labels, pool);
}

static const char *take_array(struct vestige_field *field, const struct ust_type *type)
{
	const struct ust_array *array = (const void *) type;

	if (!is_whole(type, sizeof(*array)))
		return SKIPPED_FIELDS;
	field->kind = VESTIGE_ARRAY;
	field->length = array->length;
	if (array->encoding)
		field->flags |= VESTIGE_TEXT;
	if (array->alignment > 8)
		return SKIPPED_ALIGNMENT;
	return take_integer(field, array->element);
}

static const char *take_sequence(struct vestige_field *field, const struct ust_type *type)
{
	const struct ust_sequence *sequence = (const void *) type;

	if (!is_whole(type, sizeof(*sequence)))
		return SKIPPED_FIELDS;
	if (sequence->encoding)
		field->flags |= VESTIGE_TEXT;
	if (sequence->alignment > 8)
		return SKIPPED_ALIGNMENT;
	return take_integer(field, sequence->element);
}

static void take_bytes(struct vestige_field *field)
{
	field->size = 1;
	field->flags |= VESTIGE_HEXADECIMAL;
}

static const char *take_blob(struct vestige_field *field, const struct ust_type *type)
{
	const struct ust_fixed_blob *blob = (const void *) type;

	if (!is_whole(type, sizeof(*blob)))
		return SKIPPED_FIELDS;
	take_bytes(field);
	field->kind = VESTIGE_ARRAY;
	field->length = blob->length;
	return NULL;
}

static bool has_length(const struct ust_type *type)
{
	return type->kind == UST_SEQUENCE || type->kind == UST_VARIABLE_BLOB;
}

static bool is_usable(const struct ust_field *field)
{
	return field && field->struct_size >= sizeof(*field) && is_identifier(field->name) &&
		field->type;
}

/* A sequence and the field with its length. */
static const char *take_pair(struct vestige_field *to, const struct ust_field *length,
			     const struct ust_field *from)
{
	const char *wrong = take_integer(to, length->type);

	if (wrong)
		return wrong;
	if (length->is_not_written != from->is_not_written || (to->flags & VESTIGE_BIG_ENDIAN))
		return SKIPPED_FIELDS;
	*to = (struct vestige_field) {
		.name = from->name,
		.kind = VESTIGE_SEQUENCE,
		.length_size = to->size,
	};
	if (from->type->kind == UST_SEQUENCE)
		return take_sequence(to, from->type);
	take_bytes(to);
	return NULL;
}

static const char *take_one(struct vestige_field *to, const struct ust_field *from,
			    struct pool *pool)
{
	to->name = from->name;
	to->kind = VESTIGE_INTEGER;
	switch (from->type->kind) {
	case UST_INTEGER:
		/* One that filters do not see is the length of a sequence. */
		return from->is_not_filtered ? SKIPPED_FIELDS : take_integer(to, from->type);
	case UST_FLOAT:
		return take_float(to, from->type);
	case UST_STRING:
		to->kind = VESTIGE_STRING;
		return NULL;
	case UST_ENUM:
		return take_enum(to, from->type, pool);
	case UST_ARRAY:
		return take_array(to, from->type);
	case UST_FIXED_BLOB:
		return take_blob(to, from->type);
	default:
		return SKIPPED_FIELDS;
	}
}

static const char *take_fields(struct vestige_event_class *class, const struct ust_class *from,
			       struct pool *pool)
{
	struct vestige_field *fields;
	uint32_t count = 0;

	if (from->field_count > MOST_FIELDS || (from->field_count && !from->fields))
		return SKIPPED_DAMAGED;
	fields = pool_take(pool, from->field_count, sizeof(*fields));
	if (!fields)
		return SKIPPED_MEMORY;
	for (size_t index = 0; index < from->field_count; index++) {
		const struct ust_field *field = from->fields[index];
		const struct ust_field *next =
			index + 1 < from->field_count ? from->fields[index + 1] : NULL;
		const char *wrong;

		if (!is_usable(field))
			return SKIPPED_FIELDS;
		if (is_usable(next) && has_length(next->type)) {
			wrong = take_pair(&fields[count], field, next);
			field = next;
			index++;
		} else {
			wrong = take_one(&fields[count], field, pool);
		}
		if (wrong)
			return wrong;
		if (field->is_not_written)
			fields[count].flags |= VESTIGE_NOT_WRITTEN;
		count++;
	}
	class->fields = fields;
	class->field_count = count;
	return NULL;
}

const char *describe_event(struct ust_recorded *event, const struct ust_event *from,
			   struct pool *pool)
{
	const struct ust_class *class = from->event_class;

	if (!class || class->struct_size < sizeof(*class) || !class->probe || !class->signature ||
	    !describe_can_name(from->name))
		return SKIPPED_DAMAGED;
	event->own_class.struct_size = sizeof(event->own_class);
	event->own = (struct vestige_event) {
		.struct_size = sizeof(event->own),
		.name = from->name,
		.event_class = &event->own_class,
		.model_emf_uri = from->model_emf_uri ? *from->model_emf_uri : NULL,
		.log_level =
			from->log_level && *from->log_level ? **from->log_level : USUAL_LEVEL,
	};
	return take_fields(&event->own_class, class, pool);
}
