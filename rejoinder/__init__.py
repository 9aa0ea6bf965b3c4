"""The shell: command line, composition root, the demo family, doctor."""
