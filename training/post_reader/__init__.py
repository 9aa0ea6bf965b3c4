"""Training of the larger model that reads English posts."""
