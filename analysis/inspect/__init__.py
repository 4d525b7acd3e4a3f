"""A page to look at one run: `inspect.html`, which opens offline and holds all of its data."""
