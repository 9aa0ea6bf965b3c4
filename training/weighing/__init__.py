"""Training of the head of the check `fits`, which tells whether a sentence of a reply answers anything at all."""
