"""The commands, grouped by whom they serve. Rooms are imported inside a command: `--help` must not load a model."""
