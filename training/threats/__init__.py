"""The threat head of triage: data, training, model card."""
