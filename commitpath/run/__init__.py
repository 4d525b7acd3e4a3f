"""Run a cell on a board: plan, runs, crash trials; measure a device, and fit its model."""
