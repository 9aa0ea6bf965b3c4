"""Tune the embedder's last layers to read posts, and join what they say to what the heads say."""
