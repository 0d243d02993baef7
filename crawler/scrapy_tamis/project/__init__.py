"""The project of this repository: settings, feeds and a spider, for crawls without a project of one's own."""
