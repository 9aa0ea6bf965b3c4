"""Metrics of drafts, one per file, each with its source, formula, range and blind spot."""
