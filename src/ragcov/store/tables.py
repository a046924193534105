"""The tables of runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Table

__all__ = ["Tables", "tables"]


@dataclass(frozen=True)
class Tables:
    """What a store keeps.

    Attributes:
        runs: A row a run: what was run, on which data, when; the summary once it has finished.
        rows: A row a sample that has finished, by run and position in the data: the digest of the sample as it was
            read, and its result as JSON.
    """

    runs: Table
    rows: Table


@cache
def tables() -> Tables:
    """The tables, as SQLAlchemy describes them."""
    from sqlalchemy import Boolean, Column, Float, Integer, LargeBinary, MetaData, String, Table

    metadata = MetaData()
    runs = Table(
        "ragcov_runs",
        metadata,
        Column("id", String(32), primary_key=True),
        Column("created", Float(53), nullable=False),
        Column("finished", Float(53)),
        Column("total", Integer),
        Column("digest", String(64)),
        Column("info", LargeBinary, nullable=False),
        Column("summary", LargeBinary),
    )
    rows = Table(
        "ragcov_rows",
        metadata,
        Column("run", String(32), primary_key=True),
        Column("position", Integer, primary_key=True),
        Column("digest", String(64), nullable=False),
        Column("failed", Boolean, nullable=False),
        Column("item", LargeBinary, nullable=False),
    )
    return Tables(runs, rows)
