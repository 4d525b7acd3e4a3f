"""The answers of a watched command (`make watch`): what it made filesystem and device do, and for whom."""
