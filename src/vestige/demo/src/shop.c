/*
 * shop PLUGIN: a counter takes orders and puts them into a queue; a packer thread
 * takes them out, asks libpricing.so for the price and the plugin for a discount.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "shop_tp.h"
#include "shop.h"

#define QUEUE_SIZE 4
#define CLOSING_TIME (-1)

static struct order queue[QUEUE_SIZE];
static unsigned int queue_head, queue_tail;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_changed = PTHREAD_COND_INITIALIZER;

static const struct order orders[] = {
	{ 1, "pencil", 3, 0 },   { 2, "lamp", 1, 0 },     { 3, "notebook", 2, 0 },
	{ 4, "pencil", 2, 0 },   { 5, "notebook", 12, 0 }, { 6, "lamp", 2, 0 },
	{ 7, "eraser", 1, 0 },   { 8, "notebook", 4, 0 }, { 9, "pencil", 40, 0 },
	{ 10, "lamp", 10, 0 },   { 11, "notebook", 1, 0 }, { 12, "pencil", 5, 0 },
};

static void queue_put(struct order order)
{
	pthread_mutex_lock(&queue_lock);
	while (queue_tail - queue_head == QUEUE_SIZE)
		pthread_cond_wait(&queue_changed, &queue_lock);
	queue[queue_tail++ % QUEUE_SIZE] = order;
	pthread_cond_broadcast(&queue_changed);
	pthread_mutex_unlock(&queue_lock);
}

static struct order queue_take(void)
{
	pthread_mutex_lock(&queue_lock);
	while (queue_tail == queue_head)
		pthread_cond_wait(&queue_changed, &queue_lock);
	struct order order = queue[queue_head++ % QUEUE_SIZE];
	pthread_cond_broadcast(&queue_changed);
	pthread_mutex_unlock(&queue_lock);
	return order;
}

static void refuse(const struct order *order, const char *reason)
{
	lttng_ust_tracepoint(shop, order_refused, order->number, order->total, reason);
}

static void pack(struct order *order, discount_function *discount)
{
	order->total = discount(order, price_of(order));
	if (order->total < 0)
		refuse(order, "the customer would be paid");
	else if (order->total == 0)
		refuse(order, "not in the price list");
	else
		lttng_ust_tracepoint(shop, order_packed, order->number, order->total);
}

static void *packer(void *discount)
{
	for (;;) {
		struct order order = queue_take();

		if (order.number == CLOSING_TIME)
			return NULL;
		pack(&order, (discount_function *) discount);
	}
}

static void receive(const struct order *order)
{
	lttng_ust_tracepoint(shop, order_received, order->number, order->item, order->quantity);
	queue_put(*order);
}

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *discount = plugin != NULL ? dlsym(plugin, "discount") : NULL;
	pthread_t thread;

	if (discount == NULL) {
		fprintf(stderr, "usage: shop PLUGIN\n");
		return 2;
	}
	if (pthread_create(&thread, NULL, packer, discount) != 0)
		return 1;
	for (unsigned int i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		receive(&orders[i]);
	queue_put((struct order) { .number = CLOSING_TIME });
	pthread_join(thread, NULL);
	dlclose(plugin);
	return 0;
}
