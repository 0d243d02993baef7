"""A report of a crawl in one HTML file: what was cut where, how it changed over time, and what should be checked."""
