"""What Discord and Slack share: cards, commands, who may do what, and what comes of a decision."""
