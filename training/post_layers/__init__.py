"""Tune the embedder's last layers to read posts, and combine their second opinions with those of the heads."""
