"""Learn what moderators approve: the ranker of claims, counter-claims and facts."""
