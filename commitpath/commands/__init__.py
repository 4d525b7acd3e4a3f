"""Functions of make's targets, such as experiment, hunt, bisect and inspect, and their dispatch."""
