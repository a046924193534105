"""Plain copies of whatever users put into samples and results, as JSON would hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

__all__ = ["plain"]

_DEEPEST = 100


def plain(value: Any) -> Any:
    """A copy made of dicts, lists, strings, numbers, booleans and None, as JSON would hold it.

    What JSON has no form for (a class of the user's own) becomes its `str()`; pydantic models their fields. Whatever
    the value holds, there is a copy: what refers to itself, or is nested more than 100 deep, becomes "..." there.
    """
    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=_plain_unknown)
    except (TypeError, ValueError, RecursionError):
        return _tame(value, ())


def _tame(value: Any, inside: tuple[int, ...]) -> Any:
    """`plain` for values that msgspec refuses: odd keys, circles, nesting without end."""
    if value is None or isinstance(value, str | bool | int | float):
        return msgspec.to_builtins(value)
    if id(value) in inside or len(inside) > _DEEPEST:
        return "..."
    inside = (*inside, id(value))
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        tag = {} if config.tag_field is None else {config.tag_field: config.tag}
        return tag | {name: _tame(getattr(value, name), inside) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {key if isinstance(key, str) else _text_of(key): _tame(item, inside) for key, item in items}
    if isinstance(value, list | tuple | set | frozenset):
        return [_tame(item, inside) for item in cast("Iterable[Any]", value)]
    try:
        return msgspec.to_builtins(value, str_keys=True)
    except (TypeError, ValueError, RecursionError):
        return _tame(_plain_unknown(value), inside)


def _plain_unknown(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        try:
            return dump(mode="json")
        except Exception:  # noqa: BLE001 - a value that can't be shown must not cost the row that holds it
            return _text_of(value)
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return _text_of(value)


def _text_of(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - as above
        return f"a value of type {type(value).__name__}"
