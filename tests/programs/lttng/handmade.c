/*
 * A program as LTTng-UST's headers make it, with descriptions by hand: sound ones, later ones,
 * and some that no header makes.
 */
#define _GNU_SOURCE
#include "handmade.h"

static const struct ust_integer a_byte = {{UST_INTEGER, sizeof(a_byte)}, 8, 8, 0, 0, 10};
static const struct ust_integer a_short = {{UST_INTEGER, sizeof(a_short)}, 16, 8, 0, 0, 10};
static const struct ust_integer aligned = {{UST_INTEGER, sizeof(aligned)}, 32, 32, 1, 0, 10};
static const struct ust_integer odd = {{UST_INTEGER, sizeof(odd)}, 24, 8, 1, 0, 10};
static const struct ust_integer cut = {{UST_INTEGER, 8}, 32, 8, 1, 0, 10};
static const struct ust_type a_structure = {7, 32};
static const struct ust_type unknown = {99, 8};
static const struct ust_sequence a_sequence = {
	{UST_SEQUENCE, sizeof(a_sequence)}, NULL, &a_byte.type, 0, 0};
static const struct ust_array without_element = {
	{UST_ARRAY, sizeof(without_element)}, NULL, 3, 0, 0};
static const struct ust_fixed_blob fixed_blob = {{UST_FIXED_BLOB, sizeof(fixed_blob)}, 2, NULL};
/* The same as a sequence up to here: the name of the length, and the media type. */
static const struct ust_sequence variable_blob = {
	{UST_VARIABLE_BLOB, sizeof(variable_blob)}, "_tail_length", NULL, 0, 0};
static const struct ust_enum without_labels = {
	{UST_ENUM, sizeof(without_labels)}, NULL, &an_int.type};

/* --- events --- */

static const int warning = 4;
static const int *warning_place = &warning;
static const char *uri = "http://example.com/fine";

static const struct ust_class without_probe = {
	sizeof(without_probe), NULL, 0, NULL, SIGNATURE, NULL};
static const struct ust_class without_signature = {
	sizeof(without_signature), NULL, 0, (void (*)(void)) probe, NULL, NULL};
static const struct ust_class with_null = {
	sizeof(with_null), FIELDS(NULL), 1, (void (*)(void)) probe, SIGNATURE, NULL};
static const struct ust_class without_fields = {
	sizeof(without_fields), NULL, 7, (void (*)(void)) probe, SIGNATURE, NULL};
static const struct ust_event of_another_size = {8, "of_another_size", NULL, NULL, NULL, NULL};

static const struct ust_provider sound;
static const struct ust_provider later;
static const struct ust_provider damaged;

#define OWNER &sound
static const struct ust_event *const sound_events[] = {
	LEVEL_EVENT("fine", CLASS(NUMBER, TEXT), &warning_place, &uri),
	EVENT("also_fine", CLASS(NUMBER)),
};

#undef OWNER
#define OWNER &later
static const struct ust_event *const later_events[] = {
	EVENT("blobs", CLASS(FIELD("head", &fixed_blob.type), LENGTH("_tail_length", &a_short.type),
			     FIELD("tail", &variable_blob.type))),
};

#undef OWNER
#define OWNER &damaged
static const struct ust_event *const damaged_events[] = {
	NULL,
	&of_another_size,
	EVENT("fine", CLASS(NUMBER, TEXT)),
	EVENT(NULL, CLASS(NUMBER)),
	EVENT("bad\"name", CLASS(NUMBER)),
	EVENT("no_class", NULL),
	EVENT("no_probe", &without_probe),
	EVENT("no_signature", &without_signature),
	EVENT("no_fields", &without_fields),
	EVENT("null_field", &with_null),
	EVENT("no_type", CLASS(FIELD("number", NULL))),
	EVENT("bad_field_name", CLASS(FIELD("num ber", &an_int.type))),
	EVENT("structure", CLASS(FIELD("number", &a_structure))),
	EVENT("unknown", CLASS(FIELD("number", &unknown))),
	EVENT("aligned", CLASS(FIELD("number", &aligned.type))),
	EVENT("odd", CLASS(FIELD("number", &odd.type))),
	EVENT("cut", CLASS(FIELD("number", &cut.type))),
	EVENT("no_length", CLASS(FIELD("sequence", &a_sequence.type))),
	EVENT("no_element", CLASS(FIELD("array", &without_element.type))),
	EVENT("no_labels", CLASS(FIELD("labels", &without_labels.type))),
	EVENT("other_arguments", CLASS(NUMBER)),
};

static const struct ust_provider sound = PROVIDER("sound", sound_events, 3);
static const struct ust_provider later = PROVIDER("later", later_events, 4);
static const struct ust_provider damaged = PROVIDER("damaged", damaged_events, 3);
static const struct ust_provider too_new = PROVIDER("too_new", sound_events, 5);
static const struct ust_provider too_old = PROVIDER("too_old", sound_events, 2);
static const struct ust_provider of_no_size = {12, "of_no_size", sound_events, 2, 3, 0};
static const struct ust_provider without_name = PROVIDER(NULL, sound_events, 3);
static const struct ust_provider without_events = {
	sizeof(without_events), "without_events", NULL, 2, 3, 0};
static const struct ust_provider with_many = {
	sizeof(with_many), "with_many", sound_events, 1u << 30, 3, 0};

static const struct ust_provider *const providers[] = {
	&sound,	     &later,	    &damaged,	     &too_new,	  &too_old,
	&of_no_size, &without_name, &without_events, &with_many, NULL,
};

/* --- tracepoints --- */

static struct ust_point *points[64];
static const struct ust_class *classes[64];
static int count;

static void add_point(const char *provider, const struct ust_event *event)
{
	struct ust_point *point = calloc(1, sizeof(*point));

	if (!event || !event->name || !event->event_class)
		return;
	*point = (struct ust_point) {
		.struct_size = sizeof(*point),
		.provider = provider,
		.name = event->name,
		.signature = strcmp(event->name, "other_arguments") ? SIGNATURE : "int, number",
	};
	classes[count] = event->event_class;
	/* Every other place is empty, as linkers leave them. */
	points[count] = point;
	count += 2;
}

static void pass_all(int number, const char *text)
{
	for (int index = 0; index < count; index += 2)
		pass(points[index], classes[index], number, text);
}

int main(void)
{
	int (*add)(struct ust_point *const *, int);
	int (*take)(struct ust_point *const *);
	void *registered[COUNT(providers)];

	find_library(&add, &take);
	for (size_t index = 0; index < COUNT(sound_events); index++)
		add_point("sound", sound_events[index]);
	add_point("later", later_events[0]);
	for (size_t index = 0; index < COUNT(damaged_events); index++)
		add_point("damaged", damaged_events[index]);
	add_point("too_new", sound_events[0]);
	add_point("too_old", sound_events[0]);
	add(points, count);
	pass_all(-1, "nobody has it");
	for (size_t index = 0; index < COUNT(providers); index++) {
		registered[index] = lttng_ust_probe_register(providers[index]);
		/* Older headers abort then. */
		if (!registered[index])
			return 3;
	}
	pass_all(1, "one");
	pass_all(20, "twenty");
	for (size_t index = 0; index < COUNT(providers); index++)
		lttng_ust_probe_unregister(registered[index]);
	pass_all(-2, "nobody has it");
	take(points);
	return 0;
}
