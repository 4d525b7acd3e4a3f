"""A paper's figures and tables, drawn from the results database in the paper's layout."""
