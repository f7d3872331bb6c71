/* libdiscount.so: the plugin. Its coupon rule has a mistake: look for totals below zero. */
#include <string.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "discount_tp.h"
#include "shop.h"

static long five_percent_off(long price)
{
	long after = price - price / 20;

	lttng_ust_tracepoint(discount, applied, "five percent off", price, after);
	return after;
}

static long coupon_off(long price)
{
	long after = price - 500; /* also when the price is lower than that */

	lttng_ust_tracepoint(discount, applied, "coupon", price, after);
	return after;
}

long discount(const struct order *order, long price)
{
	if (strcmp(order->item, "lamp") == 0)
		return five_percent_off(price);
	if (order->number % 4 == 0)
		return coupon_off(price);
	return price;
}
