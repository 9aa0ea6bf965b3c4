"""What makes the weights Rejoinder ships: their data, training and model cards."""
