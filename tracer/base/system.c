#include "system.h"

bool system_is_confined;
