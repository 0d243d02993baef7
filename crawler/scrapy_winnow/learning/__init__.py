"""The crawl teaches: examples of settled hosts in Redis, a learner that refits the model, and its hand-over.

``docs/guides/learning.md`` says how it is run, what is stored and what is bounded.
"""
