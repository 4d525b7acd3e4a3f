"""Judge a run's crash trials: simulated power losses, killed processes and device faults.

align locates each trial in the log of the board that ran it. prefixes finds how many transactions a recovered
database holds. verdicts compares that with what the settings promise; context describes what was in progress.
kills handles trials where only the process fails.

The plan of a run's trials follows from its device log or engine calls, its transactions and its cell. The
analysis computes it again and compares.
"""
