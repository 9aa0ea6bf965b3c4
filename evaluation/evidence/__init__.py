"""The posts that evidence is measured on, the grades of texts for them, and what is made of both."""
