/* Finds values of events, and writes them. */
#include "captures.h"

#include <stdbool.h>
#include <string.h>

#include "../stream/application.h"
#include "../stream/context.h"
#include "../stream/room.h"
#include "element.h"

enum {
	PACK_MAP = 0x80,
	PACK_ARRAY = 0x90,
	PACK_TEXT = 0xA0,
	PACK_NIL = 0xC0,
	PACK_REAL = 0xCB,
	PACK_UNSIGNED = 0xCF,
	PACK_SIGNED = 0xD3,
	PACK_LONG_TEXT = 0xDA,
	PACK_LONG_ARRAY = 0xDC,
};

/* What is written. */
struct packer {
	char *at;
	char *end;
	/* Something found no room. */
	bool is_full;
};

struct capture capture_find(const struct capture_head *head, const char *name,
			    const struct vestige_event_class *event_class)
{
	struct capture found = {.index = head->index};
	int number;

	if (head->kind == CAPTURE_CONTEXT) {
		number = context_find(name, head->length);
		if (number >= 0)
			found.source = FROM_CONTEXT;
		else if ((number = application_find(name, head->length)) >= 0)
			found.source = FROM_PROGRAM;
		found.number = (uint32_t) number;
		return found;
	}
	for (uint32_t index = 0; index < event_class->field_count; index++) {
		const struct vestige_field *field = &event_class->fields[index];

		if (strlen(field->name) != head->length ||
		    memcmp(field->name, name, head->length) != 0)
			continue;
		found.source = head->kind == CAPTURE_FIELD ? FROM_FIELD : FROM_ELEMENT;
		found.number = index;
		found.field = field;
		break;
	}
	return found;
}

static char *take(struct packer *packer, size_t size)
{
	char *at = packer->at;

	if (packer->is_full || size > (size_t) (packer->end - at)) {
		packer->is_full = true;
		return NULL;
	}
	packer->at += size;
	return at;
}

static void put_byte(struct packer *packer, unsigned int byte)
{
	char *at = take(packer, 1);

	if (at)
		*at = (char) byte;
}

/* A number in network order, after what it is. */
static void put_number(struct packer *packer, unsigned int kind, uint64_t number,
		       unsigned int size)
{
	char *at = take(packer, 1 + size);

	if (!at)
		return;
	*at = (char) kind;
	while (size) {
		at[size--] = (char) number;
		number >>= 8;
	}
}

static void put_integer(struct packer *packer, int64_t number, bool is_signed)
{
	const bool is_negative = is_signed && number < 0;

	put_number(packer, is_negative ? PACK_SIGNED : PACK_UNSIGNED, (uint64_t) number,
		   sizeof(number));
}

static void put_real(struct packer *packer, double real)
{
	uint64_t bits;

	_Static_assert(sizeof(bits) == sizeof(real), "it is sent as it is");
	memcpy(&bits, &real, sizeof(bits));
	put_number(packer, PACK_REAL, bits, sizeof(bits));
}

static void put_text(struct packer *packer, const char *text, size_t length)
{
	char *at;

	if (length > UINT16_MAX) {
		packer->is_full = true;
		return;
	}
	put_number(packer, PACK_LONG_TEXT, length, sizeof(uint16_t));
	at = take(packer, length);
	if (at)
		memcpy(at, text, length);
}

static void put_word(struct packer *packer, const char *word)
{
	const size_t length = strlen(word);
	char *at = take(packer, 1 + length);

	if (!at)
		return;
	*at = (char) (PACK_TEXT | length);
	memcpy(at + 1, word, length);
}

static void put_enumeration(struct packer *packer, int64_t number, bool is_signed)
{
	put_byte(packer, PACK_MAP | 2);
	put_word(packer, "type");
	put_word(packer, "enum");
	put_word(packer, "value");
	put_integer(packer, number, is_signed);
}

static bool is_number_size(unsigned int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void put_element(struct packer *packer, const struct vestige_field *field,
			const struct vestige_value *value, size_t index)
{
	const bool is_signed = field->flags & VESTIGE_SIGNED;

	put_integer(packer,
		    element_at(value, index, field->size, is_signed, element_is_swapped(field)),
		    is_signed);
}

static void put_array(struct packer *packer, const struct vestige_field *field,
		      const struct vestige_value *value)
{
	const size_t length = value->as.bytes ? value->length : 0;

	if ((field->flags & VESTIGE_TEXT) && field->size == 1) {
		put_text(packer, value->as.bytes, length ? strnlen(value->as.bytes, length) : 0);
		return;
	}
	if (!is_number_size(field->size)) {
		put_byte(packer, PACK_NIL);
		return;
	}
	if (length > UINT16_MAX) {
		packer->is_full = true;
		return;
	}
	put_number(packer, PACK_LONG_ARRAY, length, sizeof(uint16_t));
	for (size_t index = 0; index < length && !packer->is_full; index++)
		put_element(packer, field, value, index);
}

static void put_field(struct packer *packer, const struct vestige_field *field,
		      const struct vestige_value *value)
{
	const bool is_signed = field->flags & VESTIGE_SIGNED;

	switch (field->kind) {
	case VESTIGE_INTEGER:
		put_integer(packer, value->as.integer, is_signed);
		break;
	case VESTIGE_ENUM:
		put_enumeration(packer, value->as.integer, is_signed);
		break;
	case VESTIGE_FLOAT:
		put_real(packer, value->as.real);
		break;
	case VESTIGE_STRING:
		put_text(packer, value->as.bytes ? value->as.bytes : "(null)",
			 value->as.bytes ? value->length : strlen("(null)"));
		break;
	case VESTIGE_ARRAY:
	case VESTIGE_SEQUENCE:
		put_array(packer, field, value);
		break;
	default:
		put_byte(packer, PACK_NIL);
	}
}

static void put_element_of(struct packer *packer, const struct capture *capture,
			   const struct vestige_value *value)
{
	const struct vestige_field *field = capture->field;
	const bool is_array = field->kind == VESTIGE_ARRAY || field->kind == VESTIGE_SEQUENCE;

	if (is_array && is_number_size(field->size) && value->as.bytes &&
	    capture->index < value->length)
		put_element(packer, field, value, capture->index);
	else
		put_byte(packer, PACK_NIL);
}

static void put_context(struct packer *packer, uint32_t number, const void *ip)
{
	/* What the thread is told it notes, also one that has recorded nothing. */
	room_notes();
	if (context_is_text(number)) {
		const char *text = context_text(number);

		put_text(packer, text, strlen(text));
	} else {
		put_integer(packer, (int64_t) context_number(number, ip), false);
	}
}

static void put_of_program(struct packer *packer, uint32_t number)
{
	struct application_value value;
	bool is_there;

	application_enter();
	is_there = application_ask(number, &value);
	if (!is_there)
		put_byte(packer, PACK_NIL);
	else if (value.type == APPLICATION_STRING)
		put_text(packer, value.as.text, strlen(value.as.text));
	else if (value.type == APPLICATION_FLOAT || value.type == APPLICATION_DOUBLE)
		put_real(packer, value.as.real);
	else
		put_integer(packer, value.as.integer, true);
	application_leave();
}

static void put(struct packer *packer, const struct capture *capture,
		const struct vestige_value *values, const void *ip)
{
	switch (capture->source) {
	case FROM_FIELD:
		put_field(packer, capture->field, &values[capture->number]);
		break;
	case FROM_ELEMENT:
		put_element_of(packer, capture, &values[capture->number]);
		break;
	case FROM_CONTEXT:
		put_context(packer, capture->number, ip);
		break;
	case FROM_PROGRAM:
		put_of_program(packer, capture->number);
		break;
	default:
		put_byte(packer, PACK_NIL);
	}
}

size_t captures_write(const struct capture *captures, uint32_t count,
		      const struct vestige_value *values, const void *ip, char *bytes,
		      size_t size)
{
	/* There is room for all others, should they be none. */
	struct packer packer = {bytes, bytes + size - count, false};

	put_number(&packer, PACK_LONG_ARRAY, count, sizeof(uint16_t));
	for (uint32_t index = 0; index < count; index++) {
		char *start = packer.at;

		put(&packer, &captures[index], values, ip);
		packer.end++;
		if (!packer.is_full)
			continue;
		packer.at = start;
		packer.is_full = false;
		put_byte(&packer, PACK_NIL);
	}
	return (size_t) (packer.at - bytes);
}
