"""Fit a device profile to a measurement: lists of commands, their file, the structure, then the times."""
