/* What the hooks do, once the settings are read. */
#include "settings.h"

struct settings settings;

enum function_tracing settings_functions(enum function_tracing wanted, bool is_filtered)
{
	if (wanted == FUNCTIONS_UNKNOWN || wanted == FUNCTIONS_OFF)
		return FUNCTIONS_OFF;
	return is_filtered ? wanted | FUNCTIONS_FILTERED : wanted;
}

/* One store, since hooks look at it. */
static void set(enum function_tracing *hook, enum function_tracing tracing)
{
	__atomic_store_n(hook, tracing, __ATOMIC_RELEASE);
}

/* The usual way to do the same. */
static enum function_tracing shorten(enum function_tracing tracing, enum function_tracing usual)
{
	const uint32_t contexts =
		usual == FUNCTIONS_OF_CPU ? USUAL_CONTEXTS_OF_CPU : USUAL_CONTEXTS;
	const bool is_usual = settings_contexts(&settings.channels[0]).chosen == contexts &&
		settings.counter_is_clock && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	return is_usual && FUNCTIONS_FORM(tracing) == FUNCTIONS_FAST
		? tracing + (usual - FUNCTIONS_FAST)
		: tracing;
}

void settings_join_functions(enum function_tracing usual)
{
	const struct channel_settings *first = &settings.channels[0];
	enum function_tracing entry = shorten(first->on_entry, usual);
	enum function_tracing exit = shorten(first->on_exit, usual);

	for (uint32_t channel = 1; channel < CHANNELS; channel++) {
		const struct channel_settings *one = &settings.channels[channel];

		if (!one->is_recording)
			continue;
		if (FUNCTIONS_FORM(one->on_entry) > FUNCTIONS_OFF)
			entry = FUNCTIONS_OF_CHANNELS |
				((one->on_entry | entry) & FUNCTIONS_FILTERED);
		if (FUNCTIONS_FORM(one->on_exit) > FUNCTIONS_OFF)
			exit = FUNCTIONS_OF_CHANNELS |
				((one->on_exit | exit) & FUNCTIONS_FILTERED);
	}
	set(&settings.on_entry, entry);
	set(&settings.on_exit, exit);
	if (FUNCTIONS_FORM(entry) <= FUNCTIONS_OFF && FUNCTIONS_FORM(exit) <= FUNCTIONS_OFF) {
		entry = shorten(settings_functions(first->on_library_entry, false), usual);
		exit = shorten(settings_functions(first->on_library_exit, false), usual);
	}
	set(&settings.on_library_entry, entry);
	set(&settings.on_library_exit, exit);
}

static void stop(struct channel_settings *channel)
{
	channel->is_recording = false;
	channel->on_entry = FUNCTIONS_OFF;
	channel->on_exit = FUNCTIONS_OFF;
	channel->on_library_entry = FUNCTIONS_OFF;
	channel->on_library_exit = FUNCTIONS_OFF;
}

void settings_stop(void)
{
	settings.is_recording = false;
	settings.on_entry = FUNCTIONS_OFF;
	settings.on_exit = FUNCTIONS_OFF;
	settings.on_library_entry = FUNCTIONS_OFF;
	settings.on_library_exit = FUNCTIONS_OFF;
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		stop(&settings.channels[channel]);
}

void settings_stop_channel(uint32_t channel)
{
	bool is_last = true;

	stop(&settings.channels[channel]);
	for (uint32_t other = 0; other < CHANNELS; other++)
		is_last = is_last && !settings.channels[other].is_recording;
	if (is_last) {
		settings_stop();
		return;
	}
	/* Others have no functions then, or are asked one after the other. */
	if (channel == 0 && FUNCTIONS_FORM(settings.on_entry) != FUNCTIONS_OF_CHANNELS)
		settings.on_entry = FUNCTIONS_OFF;
	if (channel == 0 && FUNCTIONS_FORM(settings.on_exit) != FUNCTIONS_OF_CHANNELS)
		settings.on_exit = FUNCTIONS_OFF;
	if (channel == 0 && FUNCTIONS_FORM(settings.on_library_entry) != FUNCTIONS_OF_CHANNELS)
		settings.on_library_entry = FUNCTIONS_OFF;
	if (channel == 0 && FUNCTIONS_FORM(settings.on_library_exit) != FUNCTIONS_OF_CHANNELS)
		settings.on_library_exit = FUNCTIONS_OFF;
}
