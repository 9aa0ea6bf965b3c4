"""Moderators' decisions as training examples."""
