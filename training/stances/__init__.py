"""Make the stance head: what the guard reads in a sentence of a reply, beside the post it answers."""
