"""What was learned of a site, to be read by people, used elsewhere, and given to another crawl: site profiles."""
