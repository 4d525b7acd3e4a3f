"""The settings that a cell requests, and how each is read back."""
