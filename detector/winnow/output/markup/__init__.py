"""What is left of a page as clean HTML: which markup stays, and code with its lines."""
