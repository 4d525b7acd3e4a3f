"""What every stage uses: paths, errors, YAML, progress, scratch folders, text of others."""
