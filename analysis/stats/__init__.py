"""Compute numbers from runs: tables of transactions, pace, cost of observation, spread of repeats."""
