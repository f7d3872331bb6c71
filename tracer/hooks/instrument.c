/* Answers vestige.instrument: what the tracer agrees on, and who does not. */
#include "instrument.h"

#include "../agreement/agreement.h"
#include "../base/compiler.h"
#include "../base/refusal.h"
#include "../base/settings.h"
#include "../base/version.h"

EXPORTED const char vestige_agreement[] = AGREEMENT " " VESTIGE_VERSION;

EXPORTED void vestige_refuse(const char *agreement, const char *version, const char *name)
{
	if (settings.is_recording)
		refusal_write(settings.directory, agreement, version, name);
}
