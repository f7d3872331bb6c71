/* libpricing.so: the price list. Built with -finstrument-functions: every call leaves an event. */
#include <string.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "pricing_tp.h"
#include "shop.h"

static const struct {
	const char *item;
	long cents;
} price_list[] = {
	{ "pencil", 90 },
	{ "notebook", 450 },
	{ "lamp", 3900 },
};

__attribute__((noinline)) static long unit_price_of(const char *item)
{
	for (unsigned int i = 0; i < sizeof(price_list) / sizeof(price_list[0]); i++)
		if (strcmp(price_list[i].item, item) == 0)
			return price_list[i].cents;
	return 0;
}

__attribute__((noinline)) static long bulk_price(long unit_price, int quantity)
{
	return quantity >= 10 ? unit_price * quantity * 9 / 10 : unit_price * quantity;
}

long price_of(const struct order *order)
{
	long unit_price = unit_price_of(order->item);
	long price = bulk_price(unit_price, order->quantity);

	lttng_ust_tracepoint(pricing, item_priced, order->item, unit_price, price);
	return price;
}
