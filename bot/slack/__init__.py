"""The desk in Slack: cards with buttons, modals and `/rejoinder …`, over Socket Mode or signed HTTP."""
