"""Model backends behind small protocols: chat servers and their client, embeddings, toxicity, and model weights."""
