"""What the commands share: inputs, progress, failures, and finding the server."""
