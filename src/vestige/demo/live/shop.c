/* A small shop takes orders; what it takes off is decided by a plugin. */
#include <dlfcn.h>
#include <stdio.h>

#include "shop.h"

static const struct order orders[] = {
	{"notebook", 3, 0},
	{"pencil", 12, 0},
	{"pencil", 1, 1},
};

static int pack(long total)
{
	return printf("packed: %ld\n", total) < 0;
}

static int refuse(long total)
{
	return printf("refused: %ld, the customer would be paid\n", total) < 0;
}

static int take(const struct order *order, discount_function *discount)
{
	long total = discount(order, price_of(order));

	return total < 0 ? refuse(total) : pack(total);
}

int main(void)
{
	void *plugin = dlopen("libdiscount.so", RTLD_NOW);
	discount_function *discount;

	if (!plugin || !(discount = (discount_function *) dlsym(plugin, "discount"))) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	for (unsigned int index = 0; index < sizeof(orders) / sizeof(*orders); index++)
		take(&orders[index], discount);
	return dlclose(plugin);
}
