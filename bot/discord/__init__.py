"""The desk in Discord: cards, buttons, forms and slash commands."""
