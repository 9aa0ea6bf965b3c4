"""The moderators' side: the desk with its rules, and the web page, Discord and Slack on top of it."""
