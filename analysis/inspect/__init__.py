"""Write inspect.html: an interactive timeline of a run or block trace, in a single offline file."""
