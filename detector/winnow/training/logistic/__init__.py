"""Training of logistic models: labelled elements to weights."""
