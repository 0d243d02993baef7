"""Regularised isotonic regression on a tree, exact, level by level."""
