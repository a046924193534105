"""Scorers: every one is the same pipeline, one measure a file."""
