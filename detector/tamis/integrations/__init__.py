"""Tamis as a step of other libraries' pipelines; each module needs its library, installed by an extra."""
