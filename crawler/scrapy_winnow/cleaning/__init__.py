"""Cleaning in processes of their own: bytes and counts in, plain values out."""
