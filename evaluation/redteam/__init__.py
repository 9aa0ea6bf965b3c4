"""The red team: drafts labelled good or bad, and a report on how well the guard tells them apart."""
