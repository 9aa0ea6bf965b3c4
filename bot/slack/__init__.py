"""The desk in Slack: cards with buttons, modals, `/rejoinder …`, over Socket Mode or signed HTTP."""
