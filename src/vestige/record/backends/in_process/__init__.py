"""Recording by a tracer in the program and a collector in the recorder."""
