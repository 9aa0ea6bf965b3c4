"""What moderators decided, as examples that models learn from."""
