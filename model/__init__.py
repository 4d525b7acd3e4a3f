"""The model of a run: its configuration, facts of its parts, requested settings and promises."""
