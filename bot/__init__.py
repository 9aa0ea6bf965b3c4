"""The moderators' side: the desk with all its rules, and the web page, Discord and Slack on top of it."""
