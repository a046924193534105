"""The corpus: every chunk that the retriever could have brought, in the order of the documents."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from ragcov.errors import DataError
from ragcov.samples import clean_text

__all__ = ["Corpus", "CorpusChunk", "join_texts", "read_corpus"]

_SUFFIXES = (".txt", ".md")
_LONGEST = 2_000
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE_END = re.compile(r"[.!?]\s|[。！？]|\n")
_NO_SPACES = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff9d]")


class CorpusChunk(msgspec.Struct, frozen=True):
    """A chunk of the corpus.

    Attributes:
        id: Unique in the corpus.
        text: Its text.
        document: The document that it is part of; None when the corpus does not say.
    """

    id: str
    text: str
    document: str | None = None


class Corpus:
    """Chunks in order; chunks of a document that follow each other are neighbours.

    Args:
        chunks: The chunks. Where none names its document, every chunk follows the one before it.
        name: What to call the corpus in messages.

    Raises:
        DataError: Without chunks, or when an id comes twice.
    """

    def __init__(self, chunks: Iterable[CorpusChunk], *, name: str = "corpus") -> None:
        self.name = name
        self.chunks = tuple(chunks)
        if not self.chunks:
            raise DataError("no text in it; a corpus needs at least one chunk", file=name)
        positions: dict[str, int] = {}
        for position, chunk in enumerate(self.chunks):
            if positions.setdefault(chunk.id, position) != position:
                raise DataError(f'the id "{chunk.id}" was used before', file=name, line=position + 1, field="id")

    def __len__(self) -> int:
        return len(self.chunks)

    def neighbours(self, first: int, second: int) -> bool:
        """Whether the chunk at `second` follows the one at `first` in the same document."""
        return (
            second == first + 1
            and first >= 0
            and second < len(self.chunks)
            and self.chunks[first].document == self.chunks[second].document
        )

    def digest(self) -> str:
        """A hash of all texts in order: equal for equal corpora."""
        digest = hashlib.sha256()
        for chunk in self.chunks:
            text = chunk.text.encode("utf-8", "surrogatepass")
            digest.update(len(text).to_bytes(8, "big"))
            digest.update(text)
        return digest.hexdigest()


def join_texts(first: str, second: str) -> str:
    """Two neighbours as one text, with a space between words of languages that write one."""
    left, right = first.rstrip(), second.lstrip()
    tight = _NO_SPACES.match(left[-1:]) or _NO_SPACES.match(right[:1])
    return f"{left}{'' if tight else ' '}{right}"


def read_corpus(path: str | Path) -> Corpus:
    """Reads a corpus.

    Args:
        path: A JSONL file of `{"id", "text"}`, with "document" where wanted, whose order makes neighbours; or a
            directory, whose .txt and .md files (also in directories below) are documents, cut into paragraphs at
            blank lines, and at sentences where a paragraph is longer than 2,000 characters.

    Raises:
        DataError: When it is missing, empty, or a record can't be read; names file, line and field.
    """
    path = Path(path)
    if path.is_dir():
        return Corpus(_paragraphs_of(path), name=str(path))
    return Corpus(_records(path), name=str(path))


def _paragraphs_of(directory: Path) -> Iterator[CorpusChunk]:
    files = sorted(file for file in directory.rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file())
    if not files:
        raise DataError(f"no {' or '.join(_SUFFIXES)} file in this directory", file=str(directory))
    for file in files:
        name = file.relative_to(directory).as_posix()
        try:
            text = file.read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise DataError(f"can't be read: {error.strerror or error}", file=str(file)) from error
        except UnicodeDecodeError as error:
            raise DataError(f"not UTF-8, from byte {error.start}: convert it first", file=str(file)) from None
        for number, paragraph in enumerate(_paragraphs(text), 1):
            yield CorpusChunk(f"{name}#{number}", paragraph, name)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in _BLANK_LINE.split(text.replace("\r\n", "\n").replace("\r", "\n")):
        rest = paragraph.strip()
        while len(rest) > _LONGEST:
            ends = [match.end() for match in _SENTENCE_END.finditer(rest, _LONGEST // 2, _LONGEST)]
            end = ends[-1] if ends else max(rest.rfind(" ", 0, _LONGEST), 0) or _LONGEST
            yield rest[:end].strip()
            rest = rest[end:].strip()
        if rest:
            yield rest


def _records(path: Path) -> Iterator[CorpusChunk]:
    decoder = msgspec.json.Decoder()
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if line.strip():
                    yield _record(decoder, line, str(path), number)
    except OSError as error:
        raise DataError(f"can't be read: {error.strerror or error}", file=str(path)) from error


def _record(decoder: msgspec.json.Decoder[Any], line: bytes, file: str, number: int) -> CorpusChunk:
    try:
        record = decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"not JSON: {error}", file=file, line=number) from None
    if not isinstance(record, dict):
        raise DataError('expected an object {"id": ..., "text": ...}', file=file, line=number)
    fields = cast("dict[str, Any]", record)
    text, document, name = fields.get("text"), fields.get("document"), fields.get("id", f"line {number}")
    if not isinstance(text, str):
        raise DataError("expected text", file=file, line=number, field="text")
    if document is not None and not isinstance(document, str):
        raise DataError("expected text", file=file, line=number, field="document")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise DataError("expected text or a whole number", file=file, line=number, field="id")
    return CorpusChunk(clean_text(str(name)), clean_text(text), None if document is None else clean_text(document))
