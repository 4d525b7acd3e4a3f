"""Compute the expected content of a database after each transaction, to judge recovered databases."""
