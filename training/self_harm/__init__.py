"""Training of the head that finds hints at self-harm."""
