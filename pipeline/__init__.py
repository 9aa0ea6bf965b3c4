"""The processing of one post: triage, ground, draft and guard. Knows nothing of Kafka, databases or chat platforms."""
