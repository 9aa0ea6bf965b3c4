"""Training of the guard's toxicity head."""
