"""Upgrade a database to the newest schema, safe if several processes start at once; or check its version."""

from __future__ import annotations

import logging
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text

from core.errors import BadSettings, EmptyLedger
from ledger.database import Database

log = logging.getLogger(__name__)

SCRIPTS = Path(__file__).parent / "migrations"
LOCK = 0x52454A4F
"""Key of the PostgreSQL advisory lock: "REJO"."""


async def migrate(database: Database) -> None:
    """Run all missing migrations in one transaction; a database that has the newest schema is only read.

    Both databases roll back an incomplete migration. The transaction is also the lock: on SQLite BEGIN IMMEDIATE admits
    one process at a time, on PostgreSQL an advisory lock does. Raises BadSettings if a newer Rejoinder created the
    database, LedgerUnavailable if it is unavailable or a lock is not free in time.
    """
    newest = _scripts().get_current_head()
    async with database.read() as connection:
        if await connection.run_sync(_revision) == newest:
            return
    async with database.migrate() as connection:
        if not database.is_sqlite:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        revision = await connection.run_sync(_revision)
        if revision == newest:
            return
        log.info("migrating the ledger from %s to %s", revision or "no tables", newest)
        try:
            await connection.run_sync(upgrade)
        except CommandError as error:
            raise BadSettings(
                f"the ledger can't be migrated: {error}; a newer Rejoinder may have made it: install that one"
            ) from error
    log.info("the ledger was migrated to %s", newest)


async def check_schema(database: Database) -> None:
    """Raise BadSettings unless the database has the tables of this version; EmptyLedger if it has none.

    Changes nothing: a command that only reads must not upgrade tables in use by processes of another version. Raises
    LedgerUnavailable if the database is unavailable.
    """
    async with database.read() as connection:
        revision = await connection.run_sync(_revision)
    scripts = _scripts()
    newest = scripts.get_current_head()
    if revision == newest:
        return
    if revision is None:
        raise EmptyLedger
    if revision not in {script.revision for script in scripts.walk_revisions()}:
        raise BadSettings(
            f"the ledger has the tables of a newer Rejoinder ({revision}, and this is {newest}): install that one"
        )
    raise BadSettings(
        f"the ledger has the tables of an older Rejoinder ({revision}, not {newest}). Run this command with the "
        "version that its processes run; or, once those are stopped, bring the ledger to this version with: "
        "rejoinder ledger migrate"
    )


def upgrade(connection: Connection, to: str = "head") -> None:
    """Run the missing migrations up to `to` in the connection's transaction."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def _revision(connection: Connection) -> str | None:
    """Return the revision of the tables, or None if there are none."""
    return MigrationContext.configure(connection).get_current_revision()


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    return config
