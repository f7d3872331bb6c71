"""Send messages of loggers to LTTng's agent; with an argument, after a line of input."""

import logging
import sys

logging.basicConfig(level=logging.CRITICAL, filename="/dev/null")

import lttngust  # noqa: E402, F401 - messages before it are not recorded

LOGGERS = [logging.getLogger(name) for name in ("app", "app.sub", 'a "b"*')]
if len(sys.argv) > 1:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
for number, logger in enumerate(LOGGERS):
    logger.debug("debug %d", number)
    logger.info("info %d", number)
    logger.warning("wärning %d", number)
    logger.error("error %d", number)
