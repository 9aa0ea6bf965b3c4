"""Flags, decisions and faults at a rate, and a count of what was lost, doubled or sent otherwise than approved."""
