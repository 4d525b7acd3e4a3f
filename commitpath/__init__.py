"""Make a cell of settings from variables, run it on a board, store, compare and draw runs: all commands."""
