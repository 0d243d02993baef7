"""What crawls keep in Redis, and the way to it: counts of hosts, the near-duplicate index, the private server."""
