"""Kafka: topics, wire format, the Faust app and its stages, gateway, outbox, dead letters, sweeper, embedded broker."""
