"""Counting: how many pages of a host contain each unit, in bounded memory, and the site-level labels that follow."""
