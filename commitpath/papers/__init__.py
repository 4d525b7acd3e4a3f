"""Reproduce a paper: run its grid, draw its figures in its layout, judge its claims."""
