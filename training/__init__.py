"""Training of the weights that Rejoinder ships, with their data and model cards, and learning from moderators' use."""
