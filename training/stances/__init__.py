"""Training of the stance head, by which the guard judges a sentence of a reply beside the post it answers."""
