"""Training of block models: labelled blocks to weights."""
