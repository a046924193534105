"""Whether a run that is resumed is still the same run."""

from __future__ import annotations

from typing import Any, cast

from ragcov.plain import plain
from ragcov.results import RunInfo

__all__ = ["differences"]

# What may change between attempts: a row that timed out may well be given more time.
_FREE = ("timeout",)


def differences(before: RunInfo, now: RunInfo) -> list[str]:
    """What of scorers, judges and settings is different, a phrase each: 'scorers were "a", are "b" now'."""
    old, new = _flat(before), _flat(now)
    return [
        f"{name} was {_words(old.get(name))}, is {_words(new.get(name))} now"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def _flat(info: RunInfo) -> dict[str, Any]:
    settings = {name: value for name, value in info.settings.items() if name not in _FREE}
    found: dict[str, Any] = {"scorer": list(info.scorers), "judge": list(info.judges)}
    _add(plain(settings), "", found)
    return found


def _add(value: Any, name: str, found: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for key, part in cast("dict[str, Any]", value).items():
            _add(part, f"{name} {key}".strip(), found)
    else:
        found[name] = value


def _words(value: Any) -> str:
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        return ", ".join(map(str, cast("list[Any]", value)))
    return str(value)
