"""Tune a cross-encoder that orders evidence, trained on claims and facts on file and measured on graded pairs."""
