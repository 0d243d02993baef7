"""Training of the decision where to cut: examples of cuts, trees that judge them, kinds of pages."""
