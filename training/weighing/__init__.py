"""Training of the weights with which the guard's checks are weighed together."""
