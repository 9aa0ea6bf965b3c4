"""Training of triage's threat head: data, fitting, model card."""
