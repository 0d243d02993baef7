"""Tamis as a step of other libraries' pipelines; each module needs its library, an extra of this package."""
