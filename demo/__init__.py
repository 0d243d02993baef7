"""A small web the project writes itself, with the truth about its templates written beside the pages.

Six hosts of different genres, served over real HTTP on loopback. ``make demo`` crawls it, the integration tests use it
through `demo.server.DemoWeb`, and `demo.truth` compares cleaned text with the truth.
"""
