"""Values: parameters, answers of queries, attributes; numbers and ranges."""
