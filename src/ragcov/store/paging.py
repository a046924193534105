"""Reading the rows of a run page by page, so that memory stays flat and no transaction stays open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from ragcov.database import Location, describe, translated
from ragcov.errors import StoreError
from ragcov.results import ItemResult
from ragcov.store.tables import tables

if TYPE_CHECKING:
    from sqlalchemy import Engine

__all__ = ["StoredRow", "item_of", "stored_rows"]

_PAGE = 500
_ITEM = msgspec.json.Decoder(ItemResult)


@dataclass(frozen=True)
class StoredRow:
    """A row as the store has it.

    Attributes:
        position: Position in the data, from 0.
        digest: Digest of the sample as it was read.
        content: The result as JSON.
    """

    position: int
    digest: str
    content: bytes


def stored_rows(engine: Engine, location: Location, run_id: str, *, failed: bool = True) -> Iterator[StoredRow]:
    """The rows of a run in the order of the data.

    Args:
        engine: The database.
        location: Where it is, for messages.
        run_id: The run.
        failed: Whether failed rows are wanted as well.

    Raises:
        StoreError: With the row that can't be read.
    """
    from sqlalchemy import select

    rows = tables().rows
    query = select(rows.c.position, rows.c.digest, rows.c.item).where(rows.c.run == run_id)
    if not failed:
        query = query.where(~rows.c.failed)
    last = -1
    while True:
        page = query.where(rows.c.position > last).order_by(rows.c.position).limit(_PAGE)
        with translated(location, doing="read"), engine.connect() as connection:
            found = connection.execute(page).all()
        for position, digest, content in found:
            yield StoredRow(position, digest, content)
        if len(found) < _PAGE:
            return
        last = found[-1].position


def item_of(row: StoredRow, run_id: str, location: Location) -> ItemResult:
    """The result in a stored row.

    Raises:
        StoreError: When another version of ragcov wrote it in a form that this one doesn't read.
    """
    try:
        return _ITEM.decode(row.content)
    except msgspec.DecodeError as error:
        where = f"the store {describe(location)}: run {run_id}, sample {row.position + 1}"
        raise StoreError(f"{where}: not a result that this version of ragcov reads: {error}") from None
