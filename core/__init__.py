"""The vocabulary, settings and small machinery that every room stands on; imports no room."""
