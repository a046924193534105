"""A progress bar on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

__all__ = ["Progress"]


class Progress:
    """Prints lines to standard output with a bar beneath them, where there is a terminal to show one.

    Where standard output is a pipe and standard error a terminal, the bar stands there alone.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        on_stdout = sys.stdout.isatty()
        if not on_stdout and not sys.stderr.isatty():
            return self
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("scoring"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=not on_stdout),
            redirect_stdout=on_stdout,
            redirect_stderr=False,
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task("scoring", total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def print(self, line: str) -> None:
        """Prints a line above the bar, as it is."""
        if self._bar is not None and sys.stdout.isatty():
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line)

    def advance(self) -> None:
        """Counts one row as finished."""
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task)
