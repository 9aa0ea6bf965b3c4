"""The red team: labelled drafts, good and bad, and how well the guard tells them apart."""
