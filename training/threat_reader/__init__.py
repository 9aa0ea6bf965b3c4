"""Tune all-mpnet-base-v2 to read English posts that may be threats."""
