"""One process at a time works on a run. The operating system or the database drops the lock of a process that dies."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["DatabaseLock", "FileLock", "Lock"]


class Lock(Protocol):
    """A lock of a run."""

    def acquire(self) -> bool:
        """Takes the lock, without waiting; whether it could."""
        ...

    def release(self) -> None:
        """Gives the lock back; does nothing when it isn't held."""
        ...


class FileLock:
    """A lock on a file, which is there only as long as somebody holds it, or until the next one does after a crash."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Takes the lock, without waiting; whether it could.

        Raises:
            OSError: The file can't be made.
        """
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            if not _lock(descriptor):
                os.close(descriptor)
                return False
            if self._is_current(descriptor):
                self._descriptor = descriptor
                return True
            # Its last holder has just removed it: a lock on it keeps nobody out.
            os.close(descriptor)

    def release(self) -> None:
        """Gives the lock back; does nothing when it isn't held."""
        if self._descriptor is None:
            return
        if sys.platform != "win32":
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._path.stat())
        except FileNotFoundError:
            return False


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class DatabaseLock:
    """A lock that PostgreSQL holds for as long as a connection lasts."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        digest = hashlib.blake2b(f"ragcov run {name}".encode(), digest_size=8).digest()
        self._key = int.from_bytes(digest, "big", signed=True)
        self._held = False

    def acquire(self) -> bool:
        """Takes the lock, without waiting; whether it could."""
        self._held = self._call("pg_try_advisory_lock")
        return self._held

    def release(self) -> None:
        """Gives the lock back; does nothing when it isn't held."""
        if self._held:
            self._held = False
            self._call("pg_advisory_unlock")

    def _call(self, function: str) -> bool:
        from sqlalchemy import BigInteger, cast, func, select

        with self._connection.begin():
            done: bool = self._connection.execute(
                select(func.__getattr__(function)(cast(self._key, BigInteger)))
            ).scalar_one()
        return done
