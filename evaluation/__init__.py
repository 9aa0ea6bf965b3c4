"""Measurements of Rejoinder: the quality of drafts, of the evidence search and of the guard, speed, and load tests."""
