"""Reading archives: their bytes from anywhere, their records whatever is damaged, and which of these are pages."""
