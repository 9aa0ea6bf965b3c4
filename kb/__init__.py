"""The evidence: statements with their sources, a store, a dense and a word index over them, and the search."""
