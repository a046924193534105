"""Claims that were extracted before: in memory, and in the database that runs are kept in as well."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ragcov.claims import Claim
from ragcov.database import Location, create_tables, describe, insert_into, open_engine, reason_of
from ragcov.judges.base import record_usage, record_warning
from ragcov.results import Usage

if TYPE_CHECKING:
    from sqlalchemy import Engine, Table

__all__ = ["CacheStats", "ClaimsCache", "DiskCache", "cache_key"]

_KEPT_IN_MEMORY = 10_000


def cache_key(*parts: Any) -> str:
    """A key for what depends on these parts and on nothing else; holds none of their text."""
    encoded = json.dumps(parts, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(encoded.encode()).hexdigest()


class CacheStats(msgspec.Struct, frozen=True):
    """What a cache holds.

    Attributes:
        texts: How many texts whose claims are known.
        characters: Length of what is kept.
        oldest: When the oldest was kept, in seconds since 1970; None when there is none.
    """

    texts: int
    characters: int
    oldest: float | None


class DiskCache:
    """Texts by key in a database. Opened when first used.

    Args:
        location: A directory, or a database's URL.
    """

    def __init__(self, location: Location) -> None:
        self.location = location
        self._opened: tuple[Engine, Table] | None = None

    def get(self, key: str) -> str | None:
        """The text of a key; None when it has none."""
        from sqlalchemy import select

        engine, table = self._open()
        with engine.connect() as connection:
            return connection.execute(select(table.c.value).where(table.c.key == key)).scalar_one_or_none()

    def put(self, key: str, value: str) -> None:
        """Stores the text of a key; a text that is there already is kept."""
        engine, table = self._open()
        row = {"key": key, "value": value, "created": time.time()}
        with engine.begin() as connection:
            connection.execute(insert_into(engine, table).values(row).on_conflict_do_nothing())

    def stats(self) -> CacheStats:
        """What it holds."""
        from sqlalchemy import func, select

        engine, table = self._open()
        query = select(func.count(), func.coalesce(func.sum(func.length(table.c.value)), 0), func.min(table.c.created))
        with engine.connect() as connection:
            count, characters, oldest = connection.execute(query.select_from(table)).one()
        return CacheStats(count, characters, oldest)

    def clear(self) -> int:
        """Forgets everything; returns how many texts that were."""
        from sqlalchemy import delete

        engine, table = self._open()
        with engine.begin() as connection:
            return connection.execute(delete(table)).rowcount

    def close(self) -> None:
        """Closes the connections."""
        if self._opened is not None:
            self._opened[0].dispose()
            self._opened = None

    def _open(self) -> tuple[Engine, Table]:
        if self._opened is None:
            from sqlalchemy import Column, Float, MetaData, String, Table

            engine = open_engine(self.location)
            metadata = MetaData()
            table = Table(
                "claims_cache",
                metadata,
                Column("key", String, primary_key=True),
                Column("value", String, nullable=False),
                Column("created", Float, nullable=False),
            )
            create_tables(engine, table)
            self._opened = engine, table
        return self._opened


class ClaimsCache:
    """Claims by key: in memory, on disk if there is a directory, and once only while they are being extracted.

    A database that can't be used costs a warning, never a row.

    Args:
        location: A directory, or a database's URL; None keeps claims in memory only.
    """

    def __init__(self, location: Location | None) -> None:
        self._disk = DiskCache(location) if location is not None else None
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
        self._trouble = (
            f'claims are not kept for the next run: the cache in "{describe(self._disk.location)}" can\'t be used'
            f" ({reason_of(error)});"
            " set RAGCOV_CACHE to another directory, or to off"
        )
        self._warn()

    def _warn(self) -> None:
        if self._trouble:
            record_warning(self._trouble)
