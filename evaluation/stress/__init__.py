"""The stress test: flags, decisions and faults at a given rate, and a count of what was lost, doubled or altered."""
