/*
 * What is known of code objects: a hash table by address, with linear probing.
 *
 * A weak reference takes an entry away when its code object goes: another one may come to the
 * same address. Code objects could hold the word themselves, but whoever else asked the
 * interpreter for such a place would be called for each of them when it goes.
 */
#include "codes.h"

#include <stdlib.h>

#define FIRST_BITS 12

struct entry {
	PyObject *code;
	PyObject *reference;
	uint64_t word;
	void *parameters;
};

uint32_t codes_changes;
static struct entry *table;
static unsigned int bits;
static size_t used;
/* What gives back what is kept. */
static void (*release_parameters)(void *parameters);

static inline size_t home_of(const PyObject *code)
{
	return (size_t) (((uintptr_t) code >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

static inline size_t mask(void)
{
	return ((size_t) 1 << bits) - 1;
}

uint64_t *codes_find(const PyObject *code)
{
	if (UNLIKELY(!table))
		return NULL;
	for (size_t index = home_of(code);; index = (index + 1) & mask()) {
		if (LIKELY(table[index].code == code))
			return &table[index].word;
		if (!table[index].code)
			return NULL;
	}
}

static struct entry *entry_of(uint64_t *word)
{
	return (struct entry *) (void *) ((char *) word - offsetof(struct entry, word));
}

void **codes_parameters(const PyObject *code, void (*release)(void *parameters))
{
	uint64_t *word = codes_find(code);

	release_parameters = release;
	return word ? &entry_of(word)->parameters : NULL;
}

static void put_entry(struct entry entry)
{
	size_t index = home_of(entry.code);

	while (table[index].code)
		index = (index + 1) & mask();
	table[index] = entry;
	used++;
}

static bool make_room(void)
{
	struct entry *old = table;
	const size_t count = old ? mask() + 1 : 0;
	struct entry *larger;

	if (2 * (used + 1) <= count)
		return true;
	larger = calloc((size_t) 1 << (old ? bits + 1 : FIRST_BITS), sizeof(*larger));
	if (!larger)
		return false;
	bits = old ? bits + 1 : FIRST_BITS;
	table = larger;
	used = 0;
	for (size_t index = 0; index < count; index++)
		if (old[index].code)
			put_entry(old[index]);
	free(old);
	return true;
}

/* Those behind the gap may have come there only because it was taken. */
static void close_gap(size_t gap)
{
	for (size_t index = (gap + 1) & mask(); table[index].code; index = (index + 1) & mask()) {
		const size_t distance = (index - home_of(table[index].code)) & mask();

		if (distance < ((index - gap) & mask()))
			continue;
		table[gap] = table[index];
		gap = index;
	}
	memset(&table[gap], 0, sizeof(table[gap]));
	used--;
}

/* The argument is the weak reference; `self` tells the address. */
static PyObject *forget(PyObject *self, PyObject *reference)
{
	const PyObject *code = PyLong_AsVoidPtr(self);
	uint64_t *word = codes_find(code);
	struct entry *entry;

	if (word) {
		entry = entry_of(word);
		/* There may be a newer one of the same address. */
		if (entry->reference == reference) {
			if (entry->parameters)
				release_parameters(entry->parameters);
			close_gap((size_t) (entry - table));
			codes_changes++;
			Py_DECREF(reference);
		}
	}
	Py_RETURN_NONE;
}

static PyObject *reference_to(PyObject *code)
{
	static PyMethodDef method = {"forget", forget, METH_O, NULL};
	PyObject *address = PyLong_FromVoidPtr(code);
	PyObject *callback = address ? PyCFunction_NewEx(&method, address, NULL) : NULL;
	PyObject *reference = callback ? PyWeakref_NewRef(code, callback) : NULL;

	Py_XDECREF(address);
	Py_XDECREF(callback);
	return reference;
}

bool codes_add(PyObject *code, uint64_t word)
{
	PyObject *reference = reference_to(code);

	if (!reference || !make_room()) {
		Py_XDECREF(reference);
		return false;
	}
	put_entry((struct entry) {.code = code, .reference = reference, .word = word});
	return true;
}
