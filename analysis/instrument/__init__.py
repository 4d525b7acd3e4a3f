"""Properties of the measuring board: CPU time, device calibration, self-test of the probes."""
