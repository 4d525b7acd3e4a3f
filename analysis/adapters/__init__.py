"""Readers of a run's raw files and of block traces: a module for each file or format."""
