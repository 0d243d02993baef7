"""What crawls keep in Redis or Valkey, and the way to it: counts of hosts, the near-duplicate index, the private server."""
