"""Posts to evaluate on: 120 of our own, with references, and the reader of other people's files."""
