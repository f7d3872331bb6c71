/* snprintf() and vsnprintf() of the tracer itself, hidden from the program.
 *
 * Those of the C library may be replaced by others: the ThreadSanitizer's look at what is
 * written, and end the program in a thread that it has taken leave of. They are not safe in
 * signal handlers either. Here is what the tracer uses: %s, %.*s, %d, %u, %x with the lengths
 * l, ll and z, and no widths. */
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct output {
	char *at;
	size_t room;
	size_t length;
};

static void put(struct output *output, char character)
{
	/* The last byte is for the end. */
	if (output->length + 1 < output->room)
		output->at[output->length] = character;
	output->length++;
}

static void put_text(struct output *output, const char *text, size_t most)
{
	for (; most && *text; most--)
		put(output, *text++);
}

static void put_number(struct output *output, unsigned long long number, unsigned int base)
{
	char digits[24];
	unsigned int count = 0;

	do {
		digits[count++] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	while (count)
		put(output, digits[--count]);
}

/* What a number is passed as. */
enum size { SIZE_INT, SIZE_LONG, SIZE_LONG_LONG, SIZE_SIZE };

static enum size read_size(const char **format)
{
	enum size size = SIZE_INT;

	for (;; (*format)++) {
		if (**format == 'l')
			size = size == SIZE_LONG ? SIZE_LONG_LONG : SIZE_LONG;
		else if (**format == 'z')
			size = SIZE_SIZE;
		else
			return size;
	}
}

int vsnprintf(char *to, size_t room, const char *format, va_list arguments)
{
	struct output output = {to, room, 0};

	for (; *format; format++) {
		size_t most = SIZE_MAX;
		enum size size;

		if (*format != '%') {
			put(&output, *format);
			continue;
		}
		format++;
		if (format[0] == '.' && format[1] == '*') {
			const int precision = va_arg(arguments, int);

			most = precision < 0 ? SIZE_MAX : (size_t) precision;
			format += 2;
		}
		size = read_size(&format);
		if (*format == 's') {
			put_text(&output, va_arg(arguments, const char *), most);
		} else if (*format == 'd') {
			const long long number = size == SIZE_INT ? va_arg(arguments, int)
				: size == SIZE_LONG               ? va_arg(arguments, long)
								  : va_arg(arguments, long long);

			if (number < 0)
				put(&output, '-');
			put_number(&output,
				   number < 0 ? -(unsigned long long) number
					      : (unsigned long long) number,
				   10);
		} else if (*format == 'u' || *format == 'x') {
			const unsigned long long number = size == SIZE_INT
				? va_arg(arguments, unsigned int)
				: size == SIZE_LONG ? va_arg(arguments, unsigned long)
				: size == SIZE_SIZE ? va_arg(arguments, size_t)
						    : va_arg(arguments, unsigned long long);

			put_number(&output, number, *format == 'x' ? 16 : 10);
		} else if (*format) {
			put(&output, *format);
		} else {
			break;
		}
	}
	if (room)
		to[output.length < room ? output.length : room - 1] = '\0';
	return output.length > INT_MAX ? -1 : (int) output.length;
}

int snprintf(char *to, size_t room, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(to, room, format, arguments);
	va_end(arguments);
	return length;
}
