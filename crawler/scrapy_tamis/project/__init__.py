"""The project of this repository: settings, feeds and a spider, for crawls outside a Scrapy project."""
