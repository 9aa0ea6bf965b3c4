"""Training of the head that estimates how good an argument is, for `rejoinder evaluate score`."""
