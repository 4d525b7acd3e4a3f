"""Sweeps: from a grid (data) to runs, driven by Snakemake."""
