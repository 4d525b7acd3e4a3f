"""Describe a cell: axes, profiles and the checks of their values, from variables to an id."""
