"""Columns of the tables, and the JSON Schema of the documents, that an analysis reads and writes."""
