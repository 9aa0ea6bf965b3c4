"""The evidence: statements with their sources, their store, indexes over meaning and words, and the search."""
