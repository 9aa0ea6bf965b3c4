"""Tune the embedder's last layers to read a sentence of a reply beside its post or its evidence."""
