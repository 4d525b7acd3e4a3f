"""Make cells, combinations of settings, from make's variables or a grid: axes, profiles, checks, id."""
