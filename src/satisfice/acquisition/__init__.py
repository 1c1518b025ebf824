"""Scores of points: the formulas, the belief that they read, and the optimiser that finds the best point."""
