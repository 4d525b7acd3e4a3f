"""Fit a device profile to a measurement: experiments, their file, structure, joint fit."""
