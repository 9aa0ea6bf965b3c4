"""What Discord and Slack share: cards, commands, permissions, and the dialogue about decisions."""
