/* What the program, its library and its plugin know of each other. */
#ifndef SHOP_H
#define SHOP_H

struct order {
	const char *item;
	int count;
	int has_coupon;
};

/* In libpricing.so. */
long price_of(const struct order *order);

/* In the plugin: what is left of a price. */
typedef long discount_function(const struct order *order, long price);

#endif
