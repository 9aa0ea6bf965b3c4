"""The web desk: one page, its script and its style, served by the desk's own process."""
