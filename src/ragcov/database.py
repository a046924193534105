"""The database that runs and caches are kept in: SQLite under `.ragcov/`, or a team's PostgreSQL."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ragcov.errors import StoreError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine, Pool, Table
    from sqlalchemy.dialects.sqlite import Insert

__all__ = [
    "Location",
    "create_tables",
    "default_location",
    "describe",
    "insert_into",
    "is_url",
    "open_engine",
    "reason_of",
    "translated",
]

Location: TypeAlias = str | Path
"""A directory, or the URL of a PostgreSQL database: "postgresql+psycopg://user@host/name"."""

_BUSY_SECONDS = 30
_OFF = ("off", "0", "false", "no")
# Any number will do, as long as every ragcov takes the same one.
_CREATING = 7224268


def default_location() -> Location | None:
    """Where runs and claims are kept: RAGCOV_CACHE ("off": nowhere), else `.ragcov` in the working directory."""
    setting = os.environ.get("RAGCOV_CACHE", "").strip()
    if setting.lower() in _OFF:
        return None
    return setting if is_url(setting) else Path(setting or ".ragcov")


def is_url(location: Location) -> bool:
    """Whether a location is a database's URL rather than a directory."""
    return isinstance(location, str) and "://" in location


def describe(location: Location) -> str:
    """The location for messages, without a password."""
    if not is_url(location):
        return str(location)
    return _postgres_url(str(location)).render_as_string(hide_password=True)


def open_engine(location: Location, *, durable: bool = False) -> Engine:
    """Opens the database of a location. A directory is made when it isn't there.

    SQLite has write-ahead logging and a busy timeout, so that several processes can share it.

    Args:
        location: A directory or a URL.
        durable: Whether what was committed must outlast a power cut as well, at the cost of a slower commit.

    Raises:
        OSError: The directory can't be made or written.
        UsageError: The URL is none of a PostgreSQL database, or the driver isn't installed.
    """
    from sqlalchemy import create_engine

    if is_url(location):
        return create_engine(_postgres_url(str(location)), poolclass=_pool(durable), pool_pre_ping=True)
    directory = Path(location)
    if not directory.is_dir():
        directory.mkdir(parents=True)
        (directory / ".gitignore").write_text("*\n", encoding="utf-8")
    return _sqlite_engine(directory / "ragcov.sqlite3", durable=durable)


def _pool(durable: bool) -> type[Pool]:
    from sqlalchemy import NullPool, QueuePool

    # Runs are read a page at a time by whoever has opened one, and may never close it: no connection is left open.
    return NullPool if durable else QueuePool


def _sqlite_engine(path: Path, *, durable: bool) -> Engine:
    from sqlalchemy import URL, create_engine, event

    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=_pool(durable),
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
    )

    def configure(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        cursor.close()

    event.listen(engine, "connect", configure)
    return engine


def _postgres_url(text: str) -> URL:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    problem = 'a store is a directory, or "postgresql+psycopg://user@host/database"'
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        # The text itself may hold a password.
        raise UsageError(f"{problem}; this URL can't be read") from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise UsageError(f"{problem}, got one of {url.get_backend_name()}")
    if importlib.util.find_spec("psycopg") is None:
        raise UsageError('a store on PostgreSQL needs: pip install "ragcov[postgres]"')
    return url.set(drivername="postgresql+psycopg")


def create_tables(engine: Engine, *tables: Table) -> None:
    """Makes the tables that aren't there yet; several processes may do so at once."""
    from sqlalchemy import text
    from sqlalchemy.schema import CreateTable

    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CREATING})
        for table in tables:
            connection.execute(CreateTable(table, if_not_exists=True))


def insert_into(engine: Engine, table: Table) -> Insert:
    """An INSERT that can say what to do on conflict, in the engine's dialect."""
    from sqlalchemy.dialects import postgresql, sqlite

    # Both have the same methods for it.
    return sqlite.insert(table) if engine.dialect.name == "sqlite" else postgresql.insert(table)  # pyright: ignore[reportReturnType]


@contextmanager
def translated(location: Location, *, doing: str, advice: str = "") -> Generator[None]:
    """Turns what the database raises into a `StoreError` that says where, what for, and what to do.

    Args:
        location: The database's.
        doing: What was being done: "written", "read".
        advice: What to do; a default fits most cases.
    """
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (OSError, SQLAlchemyError) as error:
        raise StoreError(f"the store {describe(location)} can't be {doing}: {reason_of(error)}{advice}") from error


def reason_of(error: Exception) -> str:
    """What the database or the system said, without the statement and its values."""
    said = getattr(error, "orig", None) or error
    if isinstance(said, OSError) and said.strerror:
        return said.strerror
    return " ".join(str(said).split())
