"""Claims of hateful posts, and the words and facts on file that answer them; `<group>.toml` has a group's claims."""
