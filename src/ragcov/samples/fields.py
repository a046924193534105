"""From a record with anyone's field names to a sample."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from ragcov.errors import DataError, UsageError
from ragcov.messages import is_agent_input, user_messages
from ragcov.samples.sample import Sample, Turn, clean
from ragcov.samples.values import (
    chunks_of,
    describe,
    ground_truth_of,
    id_of,
    is_missing,
    list_in_cell,
    messages_in,
    plain_array,
    unwrapped,
)

__all__ = ["ALIASES", "check_mapping", "known_columns", "sample_from"]

ALIASES: dict[str, tuple[str, ...]] = {
    "id": ("id", "sample_id", "example_id", "case_id"),
    "input": ("input", "user_input", "question", "query", "inputs", "input_messages", "messages", "prompt"),
    "ground_truth": (
        "ground_truth",
        "ground_truths",
        "groundtruth",
        "reference",
        "reference_answer",
        "reference_output",
        "reference_outputs",
        "expected_output",
        "expected_answer",
        "expected",
        "gold",
        "gold_answer",
        "golden_answer",
        "correct_answer",
        "ideal",
    ),
    "context": (
        "context",
        "contexts",
        "retrieved_contexts",
        "retrieved_context",
        "retrieval_context",
        "retrieved_documents",
        "retrieved_docs",
        "retrieved_chunks",
        "retrieved_passages",
        "source_documents",
        "documents",
        "docs",
        "chunks",
        "passages",
    ),
    "output": ("output", "response", "answer", "actual_output", "generated_answer", "result", "outputs"),
}
"""Field names that are recognised, by the field of a sample they mean; case, spaces and camelCase don't matter.

They are ragas' (new and old), deepeval's, LangSmith's, Mastra's, and what people call them.
"""

_FIELD_OF = {alias: field for field, aliases in ALIASES.items() for alias in aliases}
# Names that say little: used when no other name of the field holds a value, else carried along as extra.
_WEAK = frozenset(
    {
        "sample_id",
        "example_id",
        "case_id",
        "messages",
        "prompt",
        "expected",
        "gold",
        "ideal",
        "result",
        "documents",
        "docs",
        "chunks",
        "passages",
    }
)
_AGENT_INPUT = frozenset({"input_messages", "remembered_messages", "system_messages", "tagged_system_messages"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(eq=False)
class _Entry:
    """A column of a record: its name as it stands there, the alias it is read as ("" for none), and its value."""

    column: str
    name: str
    value: Any

    @property
    def field(self) -> str | None:
        return _FIELD_OF.get(self.name)


@lru_cache(maxsize=1024)
def _normal(column: str) -> str:
    """The column's name in snake_case: "groundTruth", "Ground Truth" and "ground-truth" are the same."""
    return _NOT_WORD.sub("_", _CAMEL.sub("_", column.strip())).strip("_").lower()


def known_columns(columns: Iterable[str]) -> list[str]:
    """Those of the columns whose names are recognised."""
    return [column for column in columns if _normal(column) in _FIELD_OF or _normal(column) == "turns"]


def check_mapping(mapping: Mapping[str, str] | None, columns: Iterable[str] | None = None) -> None:
    """Checks a mapping of our field names to the data's column names.

    Raises:
        UsageError: When it names a field that samples don't have, or a column that is not among `columns`.
    """
    for field, column in (mapping or {}).items():
        if field not in ALIASES:
            raise UsageError(f'can\'t map "{field}": the fields of a sample are {", ".join(ALIASES)}')
        if columns is not None and column.partition(".")[0] not in columns and column not in columns:
            raise UsageError(
                f'"{column}", mapped to {field}, is not in the data; it has: {", ".join(columns) or "nothing"}'
            )


def sample_from(
    record: Mapping[str, Any],
    *,
    index: int,
    file: str | None = None,
    line: int | None = None,
    mapping: Mapping[str, str] | None = None,
    cells: bool = False,
) -> Sample:
    """A sample from a dict with our field names, or those of ragas, deepeval, LangSmith or Mastra.

    Args:
        record: The dict. Names that aren't recognised go to `extra` untouched, as does a plain `context` beside
            a `retrieval_context` or `retrieved_contexts`: for deepeval it is the ideal context, not the retrieved one.
            The entries of a dict under "extra" are taken one by one.
        index: Position in the dataset, from 0; the id of a sample without one is this number plus 1.
        file: For error messages.
        line: For error messages.
        mapping: Our field name to their column name, for columns that aren't recognised, or mean something else
            here: `{"ground_truth": "gold"}`. "a.b" is `b` in the dict `a`.
        cells: The values are cells of a table without types: empty text is a missing value, and text that holds
            agent messages as JSON becomes messages.

    Raises:
        DataError: When no name is recognised, two names of one field disagree, or a value can't be read; it says
            which field, and what was expected.
        UsageError: When `mapping` names a field that samples don't have.

    A conversation is a list of inputs under `inputs`, or under `turns` a list of dicts with the fields of a `Turn`.
    """
    if not isinstance(record, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DataError(f"expected an object with named fields, got {describe(record)}", file=file, line=line)
    check_mapping(mapping)
    entries = _entries(record, mapping or {})
    turns = _take_turns(entries, cells, file, line)
    if not turns and not any(entry.field for entry in entries):
        raise DataError(unrecognised(map(str, record)), file=file, line=line)
    _gather_agent_input(entries)
    _read_langsmith(entries)
    _prefer_explicit(entries, cells)
    values: dict[str, Any] = {}
    taken_from: dict[str, str] = {}
    for entry in entries:
        field = entry.field
        if field is None or is_missing(entry.value, cells):
            continue
        try:
            value = clean(_value(field, entry.value, cells))
        except DataError as error:
            raise DataError(error.problem, file=file, line=line, field=entry.column) from None
        except RecursionError:
            raise DataError("nested too deeply to be read", file=file, line=line, field=entry.column) from None
        if field in values and values[field] != value:
            problem = (
                f'"{taken_from[field]}" and "{entry.column}" both mean {field}, but disagree; choose one with '
                f"--map {field}={entry.column} or mapping={{...}}"
            )
            raise DataError(problem, file=file, line=line, field=entry.column)
        values[field] = value
        taken_from.setdefault(field, entry.column)
    values.setdefault("id", str(index + 1))
    if turns:
        said = _said_by_user(turns)
        if values.setdefault("input", said) != said:
            raise DataError("a conversation says its input in its turns; leave input out", file=file, line=line)
    try:
        extra = clean(_extra(entries))
    except RecursionError:
        column = next(entry.column for entry in entries if entry.field is None and _too_deep(entry.value))
        raise DataError("nested too deeply to be read", file=file, line=line, field=column) from None
    return Sample(**values, extra=extra, turns=turns)


def _too_deep(value: Any) -> bool:
    try:
        clean(value)
    except RecursionError:
        return True
    return False


def _take_turns(entries: list[_Entry], cells: bool, file: str | None, line: int | None) -> tuple[Turn, ...]:
    """Takes the conversation out of the columns; without one they stay as they are."""
    for entry in entries:
        if entry.name not in ("turns", "inputs"):
            continue
        value = list_in_cell(entry.value) if cells else plain_array(entry.value)
        if not isinstance(value, list | tuple) or not value or is_agent_input(value):
            continue
        entries.remove(entry)
        if any(other.name in ("turns", "inputs") for other in entries):
            raise DataError("give inputs or turns, not both", file=file, line=line, field=entry.column)
        items = cast("list[Any]", value)
        return tuple(_turn(item, f"{entry.column}[{number}]", file, line) for number, item in enumerate(items))
    return ()


def _turn(value: Any, place: str, file: str | None, line: int | None) -> Turn:
    """A turn: a dict with its fields, or just what the user says."""
    if isinstance(value, str | list) or (is_agent_input(value) and "role" in value):
        return Turn(input=clean(value))
    if not isinstance(value, Mapping):
        raise DataError(f"expected text or an object, got {describe(value)}", file=file, line=line, field=place)
    fields = dict(cast("Mapping[str, Any]", value))
    checks: dict[str, Any] = {name: fields.pop(name, None) or [] for name in ("scorers", "gates")}
    try:
        found = sample_from(fields, index=0)
    except DataError as error:
        field = f"{place}.{error.field}" if error.field else place
        raise DataError(error.problem, file=file, line=line, field=field) from None
    if found.input is None or found.turns:
        raise DataError("a turn needs an input", file=file, line=line, field=place)
    for name, check in checks.items():
        if not isinstance(check, list | tuple):
            problem = f"expected a list, got {describe(check)}"
            raise DataError(problem, file=file, line=line, field=f"{place}.{name}")
    return Turn(
        input=found.input,
        ground_truth=found.ground_truth,
        context=found.context,
        output=found.output,
        scorers=list(checks["scorers"]),
        gates=list(checks["gates"]),
        extra=found.extra,
    )


def _said_by_user(turns: Sequence[Turn]) -> list[Any]:
    return [message for turn in turns for message in user_messages(turn.input)]


def unrecognised(columns: Iterable[str]) -> str:
    """What is wrong when no column has a known name, and what to do."""
    columns = list(columns)
    if {"kind", "version", "judges"}.issubset(columns):
        return 'this is a results file of ragcov, not a dataset; "ragcov show" prints it, "ragcov run" takes samples'
    return (
        f"none of the fields found ({', '.join(columns) or 'none'}) is known; say which is which, for example "
        '--map ground_truth=NAME or mapping={"ground_truth": "NAME"}'
    )


def _entries(record: Mapping[str, Any], mapping: Mapping[str, str]) -> list[_Entry]:
    """The columns with the names they are read by; a mapping stands above the table of aliases."""
    entries = [_Entry(column, field, _at(record, column)) for field, column in mapping.items()]
    looked_into = {column.partition(".")[0] for column in mapping.values() if column not in record}
    for key, value in record.items():
        column = str(key)
        if column not in mapping.values():
            name = _normal(column)
            spoken_for = column in looked_into or _FIELD_OF.get(name) in mapping
            entries.append(_Entry(column, "" if spoken_for else name, value))
    return entries


def _at(record: Mapping[str, Any], path: str) -> Any:
    """The value of a column, or at a dotted path; None when there is none."""
    if path in record:
        return record[path]
    head, _, tail = path.partition(".")
    inner = record.get(head)
    return _at(cast("Mapping[str, Any]", inner), tail) if tail and isinstance(inner, Mapping) else None


def _gather_agent_input(entries: list[_Entry]) -> None:
    """Puts Mastra's `inputMessages` and the fields beside it together into one agent-shaped input."""
    parts = [entry for entry in entries if entry.name in _AGENT_INPUT]
    if any(entry.name == "input_messages" for entry in parts):
        whole = _Entry("inputMessages", "input_messages", {entry.column: entry.value for entry in parts})
        entries[:] = [whole, *(entry for entry in entries if entry not in parts)]


def _read_langsmith(entries: list[_Entry]) -> None:
    """Reads LangSmith's `inputs` and `outputs`.

    The `outputs` of an example are the reference; those of a run, which has `reference_outputs` beside them, are the
    answer, and may hold the retrieved contexts.
    """
    by_name = {entry.name: entry for entry in entries}
    inputs, outputs = by_name.get("inputs"), by_name.get("outputs")
    if inputs is not None:
        inputs.value = unwrapped(inputs.value)
    if outputs is None:
        return
    if inputs is not None and not any(entry.field == "ground_truth" for entry in entries):
        outputs.name = "reference_outputs"
        return
    whole = outputs.value
    if isinstance(whole, Mapping):
        inner = cast("Mapping[str, Any]", whole)
        outputs.value = unwrapped(inner)
        if not any(entry.field == "context" for entry in entries):
            held = [name for name in inner if _FIELD_OF.get(_normal(str(name))) == "context"]
            entries.extend(_Entry(f"outputs.{name}", _normal(name), inner[name]) for name in held)


def _prefer_explicit(entries: list[_Entry], cells: bool) -> None:
    """Turns names into extras where a more explicit one of the same field is there."""
    if any(entry.field == "context" and entry.name.startswith("retriev") for entry in entries):
        for entry in entries:
            if entry.field == "context" and not entry.name.startswith("retriev"):
                entry.name = ""
    strong = {e.field for e in entries if e.name not in _WEAK and not is_missing(e.value, cells)}
    for entry in entries:
        if entry.name in _WEAK and entry.field in strong:
            entry.name = ""


def _value(field: str, value: Any, cells: bool) -> Any:
    if field == "id":
        return id_of(value)
    if field == "ground_truth":
        return ground_truth_of(value)
    if field == "context":
        return chunks_of(value)
    if cells and isinstance(value, str):
        return messages_in(value)
    if field == "input" and isinstance(value, list | tuple) and value != [] and not is_agent_input(value):
        raise DataError(
            "expected text or a list of messages, got a list; give one record for each question "
            '(from a table of columns: pandas\' to_json(orient="records"))'
        )
    return cast("Any", value)


def _extra(entries: list[_Entry]) -> dict[str, Any]:
    """The columns that no field takes; the entries of a dict named "extra" one by one."""
    extra = {entry.column: entry.value for entry in entries if entry.field is None}
    inner = extra.get("extra")
    if isinstance(inner, dict) and not extra.keys() & cast("dict[str, Any]", inner).keys() - {"extra"}:
        del extra["extra"]
        extra.update(cast("dict[str, Any]", inner))
    return extra
