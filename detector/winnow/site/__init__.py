"""What needs many pages of one site."""
