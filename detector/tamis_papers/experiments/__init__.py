"""Experiments of the papers: one file a table or figure, one command each; `docs/papers.md` lists them."""
