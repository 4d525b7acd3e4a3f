"""Functions of make's targets, such as experiment, hunt, crash-replay and inspect, and their dispatch."""
