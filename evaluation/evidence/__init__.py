"""The yardstick of the evidence search: posts, readers' grades of texts for them, and the figures made from both."""
