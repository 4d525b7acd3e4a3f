"""Run a cell: its plan, runs, crash trials and replays."""
