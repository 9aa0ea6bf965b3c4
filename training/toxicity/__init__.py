"""The toxicity head of the guard."""
