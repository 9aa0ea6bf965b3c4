"""What hateful posts claim, and the words and facts on file that answer it; `<group>.toml` holds a group's claims."""
