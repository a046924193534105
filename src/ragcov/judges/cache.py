"""Claims that were extracted before: in memory, and in SQLite under `.ragcov/`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ragcov.claims import Claim
from ragcov.judges.base import record_usage, record_warning
from ragcov.results import Usage

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Table

__all__ = ["ClaimsCache", "DiskCache", "cache_key", "default_cache_dir", "open_database"]

_KEPT_IN_MEMORY = 10_000
_BUSY_SECONDS = 30


def default_cache_dir() -> Path | None:
    """Where claims are kept: RAGCOV_CACHE when set ("off": nowhere), else `.ragcov` in the working directory."""
    setting = os.environ.get("RAGCOV_CACHE", "").strip()
    if setting.lower() in ("off", "0", "false", "no"):
        return None
    return Path(setting) if setting else Path(".ragcov")


def cache_key(*parts: Any) -> str:
    """A key for what depends on these parts and on nothing else; holds none of their text."""
    encoded = json.dumps(parts, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(encoded.encode()).hexdigest()


def open_database(directory: Path) -> Engine:
    """The SQLite database of a `.ragcov` directory, which is made when it isn't there.

    Write-ahead logging and a busy timeout let several processes share it.

    Raises:
        OSError: The directory can't be made or written.
    """
    from sqlalchemy import create_engine, event

    if not directory.is_dir():
        directory.mkdir(parents=True)
        (directory / ".gitignore").write_text("*\n", encoding="utf-8")
    engine = create_engine(
        f"sqlite:///{directory / 'ragcov.sqlite3'}", connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False}
    )

    def configure(connection: Any, record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.close()

    event.listen(engine, "connect", configure)
    return engine


class DiskCache:
    """Texts by key in the database of a `.ragcov` directory. Opened when first used."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._opened: tuple[Engine, Table] | None = None

    def get(self, key: str) -> str | None:
        """The text of a key; None when it has none."""
        from sqlalchemy import select

        engine, table = self._open()
        with engine.connect() as connection:
            return connection.execute(select(table.c.value).where(table.c.key == key)).scalar_one_or_none()

    def put(self, key: str, value: str) -> None:
        """Stores the text of a key; a text that is there already is kept."""
        from sqlalchemy.dialects.sqlite import insert

        engine, table = self._open()
        row = {"key": key, "value": value, "created": time.time()}
        with engine.begin() as connection:
            connection.execute(insert(table).values(row).on_conflict_do_nothing())

    def close(self) -> None:
        """Closes the connections."""
        if self._opened is not None:
            self._opened[0].dispose()
            self._opened = None

    def _open(self) -> tuple[Engine, Table]:
        if self._opened is None:
            from sqlalchemy import Column, Float, MetaData, String, Table

            engine = open_database(self.directory)
            metadata = MetaData()
            table = Table(
                "claims_cache",
                metadata,
                Column("key", String, primary_key=True),
                Column("value", String, nullable=False),
                Column("created", Float, nullable=False),
            )
            with engine.begin() as connection:
                _create(connection, table)
            self._opened = engine, table
        return self._opened


def _create(connection: Connection, table: Table) -> None:
    from sqlalchemy.schema import CreateTable

    # Two processes may both find no table: the statement itself must not mind one.
    connection.execute(CreateTable(table, if_not_exists=True))


class ClaimsCache:
    """Claims by key: in memory, on disk if there is a directory, and once only while they are being extracted.

    A directory that can't be used costs a warning, never a row.

    Args:
        directory: The `.ragcov` directory; None keeps claims in memory only.
    """

    def __init__(self, directory: Path | None) -> None:
        self._disk = DiskCache(directory) if directory is not None else None
        self._memory: OrderedDict[str, list[Claim]] = OrderedDict()
        self._flights: dict[tuple[int, str], asyncio.Future[list[Claim]]] = {}
        self._trouble: str | None = None

    async def get(self, key: str, extract: Callable[[], Awaitable[list[Claim]]]) -> list[Claim]:
        """The claims of a key; extracts and keeps them when there are none yet.

        Rows with the same key that come while one extracts wait for it. When that one is cancelled, the next
        takes its place; when it fails, they fail with it.
        """
        loop = asyncio.get_running_loop()
        flight_key = (id(loop), key)
        while True:
            claims = self._remembered(key)
            if claims is None and (flight := self._flights.get(flight_key)) is not None:
                await asyncio.wait([flight])
                if flight.cancelled():
                    continue
                claims = flight.result()
            if claims is not None:
                record_usage(Usage(cached_calls=1))
                return list(claims)
            return list(await self._extract(flight_key, loop.create_future(), extract))

    def close(self) -> None:
        """Closes the database; it is opened again when needed."""
        if self._disk is not None:
            self._disk.close()

    async def _extract(
        self,
        flight_key: tuple[int, str],
        flight: asyncio.Future[list[Claim]],
        extract: Callable[[], Awaitable[list[Claim]]],
    ) -> list[Claim]:
        self._flights[flight_key] = flight
        try:
            claims = await extract()
            self._remember(flight_key[1], claims)
            flight.set_result(claims)
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # nobody else may be waiting for it
            raise
        finally:
            del self._flights[flight_key]
            flight.cancel()
        await self._write(flight_key[1], claims)
        return claims

    def _remembered(self, key: str) -> list[Claim] | None:
        if key in self._memory:
            self._memory.move_to_end(key)
            return self._memory[key]
        stored = self._read(key)
        if stored is None:
            return None
        try:
            claims = msgspec.json.decode(stored, type=list[Claim])
        except msgspec.MsgspecError:
            return None  # written by another version: extracted again
        self._remember(key, claims)
        return claims

    def _remember(self, key: str, claims: Sequence[Claim]) -> None:
        self._memory[key] = list(claims)
        if len(self._memory) > _KEPT_IN_MEMORY:
            self._memory.popitem(last=False)

    def _read(self, key: str) -> str | None:
        from sqlalchemy.exc import SQLAlchemyError

        if self._disk is None or self._trouble:
            self._warn()
            return None
        try:
            return self._disk.get(key)
        except (OSError, SQLAlchemyError) as error:
            self._give_up(error)
            return None

    async def _write(self, key: str, claims: Sequence[Claim]) -> None:
        from sqlalchemy.exc import SQLAlchemyError

        if self._disk is None or self._trouble:
            return
        value = msgspec.json.encode(claims).decode()
        try:
            await asyncio.to_thread(self._disk.put, key, value)
        except (OSError, SQLAlchemyError) as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        assert self._disk is not None
        reason = str(getattr(error, "orig", None) or error)
        self._trouble = (
            f'claims are not kept for the next run: the cache in "{self._disk.directory}" can\'t be used ({reason});'
            " set RAGCOV_CACHE to another directory, or to off"
        )
        self._warn()

    def _warn(self) -> None:
        if self._trouble:
            record_warning(self._trouble)
