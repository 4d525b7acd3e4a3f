"""Run sweeps: expand grids into runs, and make these with Snakemake."""
