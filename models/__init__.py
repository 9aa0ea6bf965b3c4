"""Model backends: chat servers and their client, weights, embeddings, toxicity."""
