"""Check and record what a user runs: SQL files and traces."""
