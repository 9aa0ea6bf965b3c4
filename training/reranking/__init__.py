"""Tune a cross-encoder that orders evidence: on claims and facts on file, measured on graded pairs."""
