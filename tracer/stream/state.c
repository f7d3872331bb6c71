#include "state.h"

__thread struct stream *stream_of_thread __attribute__((tls_model("initial-exec")));
