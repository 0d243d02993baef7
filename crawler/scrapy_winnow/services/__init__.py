"""What runs for long and is looked after: signs of life, figures for Prometheus, logs, and an end in order."""
