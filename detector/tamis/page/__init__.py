"""A page as flat arrays: HTML or an lxml tree in, a Page out, and sums and look-ups over its tree."""
