"""Measurements on this machine, of speed and of the evidence search: `rejoinder bench` prints tables."""
