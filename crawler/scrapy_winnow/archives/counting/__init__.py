"""Counting the leaves of each host's pages: exactly in two passes, or with what has come by then in one."""
