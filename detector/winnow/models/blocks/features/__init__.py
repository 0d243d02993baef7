"""Features of the text blocks of a page, each in the context of its page."""
