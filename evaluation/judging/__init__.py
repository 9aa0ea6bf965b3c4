"""Judges that are models: which of two drafts is better, and whether evidence entails a statement."""
