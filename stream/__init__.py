"""Kafka: topics, wire format, the Faust app and its agents, gateway, outbox, dead letters, sweeper, embedded broker."""
