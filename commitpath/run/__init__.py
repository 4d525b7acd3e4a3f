"""Run a cell on a board: plan, runs, crash trials, replays; measure a device, and fit its model."""
