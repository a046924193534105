"""The pages of the coverage report: what goes on which, and how they are written."""

from __future__ import annotations

import hashlib
import json
import tempfile
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import jinja2
import msgspec
from markupsafe import Markup

from ragcov.reports.charts import cost_charts, curve_chart, histogram
from ragcov.reports.curve import Curve
from ragcov.reports.html_text import FILTERS
from ragcov.reports.html_view import Limits, view_sample
from ragcov.results import ItemResult, RunInfo, Summary
from ragcov.settings import flat_settings

__all__ = ["Entry", "PageWriter", "Spool"]

_ITEM = msgspec.json.Decoder(ItemResult)
_FILE_BYTES = 1_000_000
_INDEX_ROWS = 2_000
_ONE_FILE_SAMPLES = 200
# Up to 200 samples go into one file: when they are too long for that, less of their texts is shown.
_LIMITS = (
    Limits(),
    Limits(chunk=1500, text=8_000, idle=20),
    Limits(chunk=600, text=3_000, idle=10),
    Limits(chunk=250, text=1_000, idle=5),
)
_STATES = {"scored": "scored", "not_scorable": "not scorable", "failed": "failed"}


class Entry(msgspec.Struct, kw_only=True):
    """A row of the index, and where its sample stands in the spool."""

    order: tuple[int, float, int]
    index: int
    id: str
    question: str
    state: str
    kind: str
    scores: list[float | None]
    attributed: int
    total: int
    place: tuple[int, int]
    href: str = ""

    @property
    def state_text(self) -> str:
        """The state in words."""
        return _STATES[self.state]


class _Page(msgspec.Struct, frozen=True):
    file: str
    title: str


class Spool:
    """Byte strings on disk, found again by their place."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._end = 0

    def put(self, data: bytes) -> tuple[int, int]:
        """Adds a string and returns its place."""
        self._file.seek(self._end)
        self._file.write(data)
        place = (self._end, len(data))
        self._end += len(data)
        return place

    def get(self, place: tuple[int, int]) -> bytes:
        """The string at a place."""
        self._file.seek(place[0])
        return self._file.read(place[1])

    def close(self) -> None:
        """Gives the disk space back."""
        self._file.close()


class PageWriter:
    """Lays the report out and writes its files."""

    def __init__(
        self,
        path: Path,
        info: RunInfo,
        notes: Sequence[str],
        summary: Summary,
        scores: dict[str, list[float]],
        curve: Curve | None,
    ) -> None:
        self._path = path
        self._templates = _environment(info)
        self._section = self._templates.get_template("sample.html.j2")
        self._common: dict[str, Any] = {
            "notes": notes,
            "summary": summary,
            "settings": list(_settings(info)),
            "scorers": info.scorers,
            "curve": curve,
            "histograms": [
                chart
                for number, (scorer_id, found) in enumerate(scores.items())
                if (chart := histogram(f"scores{number}", scorer_id, found, summary.scorers[scorer_id].scale))
            ],
            "line": curve_chart(curve) if curve is not None else None,
            "costs": cost_charts(summary.usage),
        }

    def write(self, entries: Sequence[Entry], spool: Spool) -> None:
        """Writes the files; entries come in the order of the index, their rows stand in the spool."""
        if len(entries) <= _INDEX_ROWS and self._write_one(entries, spool):
            self._remove_old(1)
            return
        rendered = Spool()
        try:
            self._write_many(entries, spool, rendered)
        finally:
            rendered.close()

    def _write_one(self, entries: Sequence[Entry], spool: Spool) -> bool:
        """Writes everything as one file, if it can be made small enough."""
        for entry in entries:
            entry.href = f"#s{entry.index}"
        for limits in _LIMITS if len(entries) <= _ONE_FILE_SAMPLES else _LIMITS[:1]:
            sections: list[str] = []
            room = _FILE_BYTES
            for entry in entries:
                section = self._render(entry, spool, limits, back="#index")
                room -= len(section.encode())
                if room < 0:
                    break
                sections.append(section)
            else:
                page = self._overview(entries, 0, [self._page(0)], sections=map(Markup, sections))
                whole = "".join(page).encode()
                if len(whole) < _FILE_BYTES:
                    _replace(self._path, [whole])
                    return True
        return False

    def _write_many(self, entries: Sequence[Entry], spool: Spool, rendered: Spool) -> None:
        parts = [entries[i : i + _INDEX_ROWS] for i in range(0, len(entries), _INDEX_ROWS)]
        pages = [self._page(i, f"index {i + 1}" if i else "overview") for i in range(len(parts))]
        contents: list[list[tuple[int, int]]] = []
        room = 0
        for position, entry in enumerate(entries):
            back = f"{quote(pages[position // _INDEX_ROWS].file)}#index"
            section = self._render(entry, spool, _LIMITS[0], back=back).encode()
            room -= len(section)
            if room < 0:
                room = _FILE_BYTES - 40_000 - len(section)
                pages.append(self._page(len(pages), f"samples from {position + 1}"))
                contents.append([])
            contents[-1].append(rendered.put(section))
            entry.href = f"{quote(pages[-1].file)}#s{entry.index}"
        for number, part in enumerate(parts):
            first = number * _INDEX_ROWS + 1
            about = (
                f"This page lists samples {first:,} to {first + len(part) - 1:,} of {len(entries):,}; sorting and "
                "filtering work within it."
            )
            page = self._overview(part, number, pages, part=about if len(parts) > 1 else None)
            _replace(self._path.with_name(pages[number].file), (text.encode() for text in page))
        template = self._templates.get_template("samples.html.j2")
        for number, places in enumerate(contents, len(parts)):
            sections = (Markup(rendered.get(place).decode()) for place in places)
            text = template.generate(
                title=f"Coverage of retrieval: {pages[number].title}",
                pages=_near(pages, number),
                sections=sections,
            )
            _replace(self._path.with_name(pages[number].file), (piece.encode() for piece in text))
        self._remove_old(len(pages))

    def _page(self, number: int, title: str = "overview") -> _Page:
        stem, suffix = self._path.stem, self._path.suffix
        return _Page(self._path.name if not number else f"{stem}-{number + 1}{suffix}", title)

    def _render(self, entry: Entry, spool: Spool, limits: Limits, *, back: str) -> str:
        view = view_sample(_ITEM.decode(spool.get(entry.place)), limits)
        return self._section.render(s=view, back=back)

    def _overview(
        self,
        rows: Sequence[Entry],
        number: int,
        pages: Sequence[_Page],
        *,
        sections: Iterable[Markup] = (),
        part: str | None = None,
    ) -> Iterator[str]:
        return self._templates.get_template("overview.html.j2").generate(
            **self._common,
            title="Coverage of retrieval",
            rows=rows,
            first_page=number == 0,
            pages=_near(pages, number),
            sections=list(sections),
            part=part,
        )

    def _remove_old(self, pages: int) -> None:
        """Removes the further pages of an earlier, larger report of the same name."""
        while True:
            old = self._path.with_name(self._page(pages).file)
            if not old.is_file():
                return
            with old.open("rb") as file:
                if b'content="ragcov ' not in file.read(400):
                    return
            old.unlink()
            pages += 1


def _near(pages: Sequence[_Page], number: int) -> list[dict[str, Any]]:
    """The pages that a page links to: the index pages, the first and last, and its neighbours."""
    return [
        {"file": page.file, "title": page.title, "here": i == number}
        for i, page in enumerate(pages)
        if i in (0, len(pages) - 1) or abs(i - number) <= 3 or page.title.startswith("index")
    ]


def _settings(info: RunInfo) -> Iterator[tuple[str, str]]:
    yield "dataset", info.dataset or "given in memory"
    yield "scorers", ", ".join(info.scorers) or "none"
    yield "judges", ", ".join(info.judges) or "none"
    for name, value in flat_settings(info.settings).items():
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _environment(info: RunInfo) -> Any:
    environment: Any = jinja2.Environment(
        loader=jinja2.PackageLoader("ragcov.reports", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    for name, file in (("style", "style.css"), ("script", "report.js")):
        text: str = environment.loader.get_source(environment, file)[0]
        environment.globals[name] = Markup(text)
        environment.globals[f"{name}_hash"] = b64encode(hashlib.sha256(text.encode()).digest()).decode()
    environment.globals["info"] = info
    return environment


def _replace(path: Path, parts: Iterable[bytes]) -> None:
    """Writes a file whole or not at all. A link stays one; a device or pipe is written to and never replaced."""
    path = path.resolve()
    whole = not path.exists() or path.is_file()
    beside = path.with_name(path.name + ".part") if whole else path
    with beside.open("wb") as file:
        for part in parts:
            file.write(part)
    if whole:
        beside.replace(path)
