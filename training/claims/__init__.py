"""The judge of claims: which claims on file a post makes, and how it attacks."""
