"""Bring a database to the newest schema; safe when several processes start at once."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, text

from core.errors import BadSettings
from ledger.database import Database

SCRIPTS = Path(__file__).parent / "migrations"
_LOCK = 0x52454A4F
"""Key of the PostgreSQL advisory lock: "REJO"."""


async def migrate(database: Database) -> None:
    """Run every migration the database lacks, all in one transaction.

    Both databases roll back half a migration. The transaction is also the lock: on SQLite BEGIN IMMEDIATE lets one
    process in at a time, on PostgreSQL an advisory lock does.
    Raises BadSettings when a newer Rejoinder made the database, LedgerUnavailable when it is away.
    """
    async with database.write() as connection:
        if not database.is_sqlite:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        try:
            await connection.run_sync(upgrade)
        except CommandError as error:
            raise BadSettings(
                f"the ledger can't be migrated: {error}; a newer Rejoinder may have made it: install that one"
            ) from error


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the steps up to `to` that the database lacks, in the connection's transaction."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, to)
