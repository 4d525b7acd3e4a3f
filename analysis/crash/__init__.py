"""What a power cut takes: which cuts are tried (cuts), what a device has kept at each (durable), what the
database must hold after each transaction (oracle, by playing SQL replayed; as hashes), after how many it is
that came up (prefixes), and what came of each trial (trials, verdicts). Where the process alone fails, kills
has the moments.

The plan of a run's trials follows from its device's log or its engine's calls, its transactions and its cell
alone, so that the analysis makes it again and compares.
"""
