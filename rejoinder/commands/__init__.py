"""The commands, grouped by audience. Rooms are imported inside each command, so that `--help` loads no model."""
