"""The commands that look after what crawls have left: hosts, near-duplicates, examples, reports."""
