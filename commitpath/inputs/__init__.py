"""Check a user's SQL on this host; record or synthesise traces of SQL."""
