"""Whether two runs were made alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ragcov.plain import plain
from ragcov.results import RunInfo

__all__ = ["changed_settings", "differences", "flat_settings"]

# What may change between attempts: a row that timed out may well be given more time.
_FREE = ("timeout",)


def differences(before: RunInfo, now: RunInfo) -> list[str]:
    """What of scorers, judges and settings is different, a phrase each: 'scorers were "a", are "b" now'."""
    return _changes(
        {"scorer": list(before.scorers), "judge": list(before.judges), **flat_settings(before.settings)},
        {"scorer": list(now.scorers), "judge": list(now.judges), **flat_settings(now.settings)},
    )


def changed_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Which settings that scores depend on are different, a phrase each: "target was a, is b now"."""
    return _changes(flat_settings(before), flat_settings(now))


def _changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [
        f"{name} was {_words(old.get(name))}, is {_words(new.get(name))} now"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name) and name not in _FREE
    ]


def flat_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """All settings in one dict; the names of those that stand in others begin with the names of these."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        # The settings of a scorer begin with its id, which says enough.
        _add(plain(value), "" if name == "scorers" else name, found)
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
