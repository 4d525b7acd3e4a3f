"""Reports on stored runs: comparisons, durability figures, report cards, set-up texts, advice."""
