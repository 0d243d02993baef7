"""The characters of a page: look-up tables over them, scripts without spaces, and counts of characters and words."""
