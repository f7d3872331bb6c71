/* Makes the list of a program's events. It is whole before any of it is sent, since no provider may
 * come or go while one looks at it. */
#include "event_list.h"

#include <stdint.h>
#include <stdio.h>

#include "../agreement/registration.h"
#include "../base/system.h"
#include "tracepoint.h"

struct event_message {
	struct message_head head;
	struct message_event event;
};

struct field_message {
	struct message_head head;
	struct message_field field;
};

/* What is looked for: how much there is, or what it is. */
struct making {
	struct event_list *list;
	bool with_fields;
};

static size_t size_of(const struct vestige_event *event, bool with_fields)
{
	return sizeof(struct event_message) +
		(with_fields ? event->event_class->field_count * sizeof(struct field_message)
			     : 0);
}

static void measure(const struct vestige_provider *provider, const struct vestige_event *event,
		    void *data)
{
	struct making *making = data;

	(void) provider;
	making->list->size += size_of(event, making->with_fields);
}

static void *next(struct event_list *list, enum message_kind kind, size_t size)
{
	struct message_head *head = (void *) (list->bytes + list->used);

	list->used += size;
	head->kind = (uint16_t) kind;
	head->size = (uint32_t) size;
	return head;
}

static void write_event(const struct vestige_provider *provider,
			const struct vestige_event *event, void *data)
{
	const struct making *making = data;
	struct event_message *message;

	/* One that came since they were measured. */
	if (making->list->used + size_of(event, making->with_fields) > making->list->size)
		return;
	message = next(making->list, MESSAGE_EVENT, sizeof(*message));
	message->event.level = event->log_level;
	message->event.is_recorded = event->id != 0;
	snprintf(message->event.name, sizeof(message->event.name), "%s:%s", provider->name,
		 event->name);
	for (uint32_t index = 0; making->with_fields && index < event->event_class->field_count;
	     index++) {
		const struct vestige_field *field = &event->event_class->fields[index];
		struct field_message *one = next(making->list, MESSAGE_FIELD, sizeof(*one));

		one->field.kind = field->kind;
		one->field.flags = field->flags;
		snprintf(one->field.name, sizeof(one->field.name), "%s", field->name);
	}
}

bool event_list_make(struct event_list *list, bool with_fields)
{
	struct making making = {.list = list, .with_fields = with_fields};

	*list = (struct event_list) {.size = 0};
	tracepoints_each(measure, &making);
	if (!list->size)
		return true;
	list->bytes = system_mmap(NULL, list->size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!list->bytes)
		return false;
	tracepoints_each(write_event, &making);
	return true;
}

void event_list_free(struct event_list *list)
{
	if (list->bytes)
		system_munmap(list->bytes, list->size);
}
