"""Parse and check a command line, and print its help."""
