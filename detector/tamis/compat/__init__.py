"""Tamis behind the functions of other libraries, to be tried by one import line."""
