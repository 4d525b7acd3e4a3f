"""Run sweeps: plan the runs of grids, and make these with Snakemake."""
