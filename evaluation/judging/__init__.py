"""A chat model that judges which of two drafts is better, a tally of its verdicts, and its agreement with people."""
