"""What describes the component classes that are built in, a file for each kind."""
