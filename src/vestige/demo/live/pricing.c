/* The library: what things cost. */
#include <string.h>

#include "shop.h"

static long unit_price(const char *item)
{
	return strcmp(item, "notebook") ? 90 : 450;
}

long price_of(const struct order *order)
{
	return order->count * unit_price(order->item);
}
