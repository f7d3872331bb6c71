/* The field example of LTTng's documentation: several fields use the same arguments. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER my_provider

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./example-tp.h"

#if !defined(EXAMPLE_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define EXAMPLE_TP_H

#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(my_provider, my_tracepoint,
	LTTNG_UST_TP_ARGS(int, my_int_arg, char *, my_str_arg, struct stat *, st),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, my_constant_field, 23 + 17)
		lttng_ust_field_integer(int, my_int_arg_field, my_int_arg)
		lttng_ust_field_integer(int, my_int_arg_field2, my_int_arg * my_int_arg)
		lttng_ust_field_integer(int, sum4_field,
			my_str_arg[0] + my_str_arg[1] + my_str_arg[2] + my_str_arg[3])
		lttng_ust_field_string(my_str_arg_field, my_str_arg)
		lttng_ust_field_integer_hex(off_t, size_field, st->st_size)
		lttng_ust_field_float(double, size_dbl_field, (double) st->st_size)
		lttng_ust_field_sequence_text(char, half_my_str_arg_field, my_str_arg,
					      size_t, strlen(my_str_arg) / 2)
	)
)

#endif

#include <lttng/tracepoint-event.h>
