"""Make a cell, one combination of settings, from make's variables: axes, profiles, checks, id."""
