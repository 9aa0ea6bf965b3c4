"""Make the head of the check `fits`: whether a sentence of a reply answers anything at all."""
