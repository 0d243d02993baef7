"""The project's own spiders."""
