"""What a run needs beforehand: facts of its parts, what is requested, and what is promised."""
