"""Posts to evaluate on: 120 of our own with references, and a reader for users' files."""
