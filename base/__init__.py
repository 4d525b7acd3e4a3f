"""Shared foundations: paths, errors, YAML, cell ids, progress, interrupts, scratch folders, safe text."""
