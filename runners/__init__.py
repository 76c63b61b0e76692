"""The command line, the grid, and the processes that its experiments run in."""
