"""Node hashes: topmost nodes of the unclean source that many pages of a site repeat to the letter."""
