"""SQL and recorded traces, parsed."""
