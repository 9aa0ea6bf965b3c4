"""Alembic's entry point: run the migrations on the connection that `ledger.migrate` opened."""

from __future__ import annotations

from alembic import context

from ledger.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
