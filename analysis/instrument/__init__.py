"""Evaluate the measuring setup: CPU time, calibration of a device profile, self-test of the probes."""
