"""The shell: command line, settings, composition root; and the vocabulary every room shares."""
