"""The shell: command line, composition, the demo's processes, doctor."""
