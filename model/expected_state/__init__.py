"""The expected content of a database after each transaction."""
