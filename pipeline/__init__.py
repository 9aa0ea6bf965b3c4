"""What is done to one post: triage, ground, draft, guard. Pure async functions, no Kafka, no chat."""
