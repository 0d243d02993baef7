"""The project of this repository: settings, items and spiders, for crawls without a project of one's own."""
