"""What is measured of drafts, one metric a file, each with its source, formula, range and blind spot."""
