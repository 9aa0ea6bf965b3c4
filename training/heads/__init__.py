"""Training of triage's heads: target groups, hate, counterspeech."""
