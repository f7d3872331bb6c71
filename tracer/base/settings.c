/* What the hooks do, once the settings are read. */
#include "settings.h"

struct settings settings;

void settings_begin(bool is_recording, bool is_filtered)
{
	if (settings.on_entry == FUNCTIONS_UNKNOWN)
		settings.on_entry = FUNCTIONS_OFF;
	if (settings.on_exit == FUNCTIONS_UNKNOWN)
		settings.on_exit = FUNCTIONS_OFF;
	if (is_filtered && settings.on_entry != FUNCTIONS_OFF)
		settings.on_entry |= FUNCTIONS_FILTERED;
	if (is_filtered && settings.on_exit != FUNCTIONS_OFF)
		settings.on_exit |= FUNCTIONS_FILTERED;
	settings.is_recording = is_recording;
	if (!is_recording)
		settings_stop();
}

static void shorten(enum function_tracing *tracing)
{
	if (FUNCTIONS_FORM(*tracing) == FUNCTIONS_FAST)
		*tracing += FUNCTIONS_USUAL - FUNCTIONS_FAST;
}

void settings_shorten(void)
{
	if (settings.contexts != USUAL_CONTEXTS || !settings.counter_is_clock)
		return;
	shorten(&settings.on_entry);
	shorten(&settings.on_exit);
}

void settings_stop(void)
{
	settings.is_recording = false;
	settings.on_entry = FUNCTIONS_OFF;
	settings.on_exit = FUNCTIONS_OFF;
}
