"""The heads of triage: target groups, hate, counterspeech."""
