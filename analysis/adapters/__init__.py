"""One adapter per source, each into the schema of analysis.schemas.events."""
