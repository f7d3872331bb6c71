#define _GNU_SOURCE
#include "skipped.h"

#include <stdio.h>

#include "../agreement/agreement.h"
#include "../base/refusal.h"
#include "../base/settings.h"

/* In what the recorder reads, see refusal_write(). */
#define LONGEST_TOLD 64

void skipped_tell(const char *reason, const char *provider, const char *event)
{
	char name[LONGEST_TOLD + 1];

	snprintf(name, sizeof(name), "%s%s%s", provider, event ? ":" : "", event ? event : "");
	refusal_write(settings.directory, SKIPPED_MARK, reason, name);
}
