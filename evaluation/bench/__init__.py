"""Measure speed on this machine: `make bench` prints a table. Nothing here passes or fails."""
