"""Train the ranker of claims, counter-claims and facts on what moderators approve."""
