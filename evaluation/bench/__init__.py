"""Benchmarks on this machine, by `rejoinder bench`: speed, evidence search, variety of replies, ledger, learning."""
