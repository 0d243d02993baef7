"""Where the nodes and the text of a page stand in the source that it was parsed from."""
