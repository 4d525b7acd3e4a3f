"""Fit the flash model to a measured device: command lists, measurement file, structure, times, profile."""
