"""Blind readings: sheets of drafts for two readers, people or language models, and the table of their verdicts."""
