"""Parse SQL files and recorded traces of SQL."""
