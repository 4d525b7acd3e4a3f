"""What is said about runs: comparisons, completeness, set-up text, advice."""
