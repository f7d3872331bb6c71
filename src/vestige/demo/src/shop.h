/* What the shop, the pricing library and the discount plugin agree on. Money is in cents. */
#ifndef SHOP_H
#define SHOP_H

struct order {
	int number;
	const char *item;
	int quantity;
	long total;
};

/* libpricing.so */
long price_of(const struct order *order);

/* libdiscount.so, loaded while the shop runs */
typedef long discount_function(const struct order *order, long price);

#endif
