"""The commands, by the names of the Makefile's targets."""
