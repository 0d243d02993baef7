"""What comes out of a page that was decided on: clean text, HTML, Markdown and pieces for retrieval."""
