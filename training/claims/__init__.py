"""Training of the judge of claims, which tells which claims on file a post makes, and how it attacks."""
