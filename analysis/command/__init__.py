"""Results of a watched command (`make watch`): its syncs, writes and transactions, by file and thread."""
