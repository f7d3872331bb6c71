/* What the hooks do, once the settings are read. */
#include "settings.h"

struct settings settings;

enum function_tracing settings_functions(enum function_tracing wanted, bool is_filtered)
{
	if (wanted == FUNCTIONS_UNKNOWN || wanted == FUNCTIONS_OFF)
		return FUNCTIONS_OFF;
	return is_filtered ? wanted | FUNCTIONS_FILTERED : wanted;
}

static void shorten(enum function_tracing *tracing, enum function_tracing usual)
{
	if (FUNCTIONS_FORM(*tracing) == FUNCTIONS_FAST)
		*tracing += usual - FUNCTIONS_FAST;
}

void settings_shorten(enum function_tracing usual)
{
	const uint32_t contexts =
		usual == FUNCTIONS_OF_CPU ? USUAL_CONTEXTS_OF_CPU : USUAL_CONTEXTS;
	const bool is_usual = settings_contexts(&settings).chosen == contexts &&
		settings.counter_is_clock && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	if (!is_usual)
		return;
	shorten(&settings.on_entry, usual);
	shorten(&settings.on_exit, usual);
}

void settings_stop(void)
{
	settings.is_recording = false;
	settings.on_entry = FUNCTIONS_OFF;
	settings.on_exit = FUNCTIONS_OFF;
}
