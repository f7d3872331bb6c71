#include "state.h"

__thread struct stream *streams_of_thread[CHANNELS] __attribute__((tls_model("initial-exec")));
__thread struct stream *first_stream __attribute__((tls_model("initial-exec")));
