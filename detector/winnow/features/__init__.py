"""Features of text blocks: one row of numbers per block, describing the block and its neighbours."""
