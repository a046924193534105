"""Charts as inline SVG, drawn from plain numbers. Colours and fonts come from the page's style sheet."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragcov.reports.curve import Curve
from ragcov.results import Usage

__all__ = ["Bar", "BarChart", "LineChart", "cost_charts", "curve_chart", "histogram"]

_WIDTH, _HEIGHT = 360, 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 10, 16, 30
_BINS = 10


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar: its place and size in the drawing, its label, and its value as text."""

    x: float
    y: float
    width: float
    height: float
    label: str
    value: str


class BarChart(msgspec.Struct, frozen=True, kw_only=True):
    """Bars with a title and a description for those who can't see them.

    Attributes:
        name: Unique in its page; letters and digits.
        title: What it shows.
        description: What can be seen in it, in a sentence.
        heads: Headings of label and value in the table of the same numbers.
        sideways: Whether the bars lie.
        bars: In order.
        width: Of the drawing.
        height: Of the drawing.
    """

    name: str
    title: str
    description: str
    heads: tuple[str, str]
    bars: tuple[Bar, ...]
    sideways: bool = False
    width: int = _WIDTH
    height: int = _HEIGHT


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """One point of a line chart."""

    x: float
    y: float
    label: str
    value: str
    tick: bool


class LineChart(msgspec.Struct, frozen=True, kw_only=True):
    """A line with a band around it.

    Attributes:
        name: Unique in its page; letters and digits.
        title: What it shows.
        description: What can be seen in it, in a sentence.
        heads: Headings of label and value in the table of the same numbers.
        dots: The points.
        band: Corners of the 95 % band, as SVG points.
        grid: Heights and labels of the horizontal lines.
        marked: Where a vertical line marks the smallest k that is enough, and its label; None for none.
        width: Of the drawing.
        height: Of the drawing.
    """

    name: str
    title: str
    description: str
    heads: tuple[str, str]
    dots: tuple[Dot, ...]
    band: str
    grid: tuple[tuple[float, str], ...]
    marked: tuple[float, str] | None
    width: int = _WIDTH
    height: int = _HEIGHT

    @property
    def line(self) -> str:
        """The line, as SVG points."""
        return " ".join(f"{dot.x:g},{dot.y:g}" for dot in self.dots)


def histogram(name: str, scorer_id: str, scores: Sequence[float], scale: float) -> BarChart | None:
    """How many rows scored in each tenth of the scale; None without scores. The top score has a bar of its own."""
    if not scores:
        return None
    counts = [0] * (_BINS + 1)
    for score in scores:
        counts[min(_BINS, int(score / scale * _BINS + 1e-9))] += 1
    labels = [f"{i * scale / _BINS:g} to under {(i + 1) * scale / _BINS:g}" for i in range(_BINS)] + [f"{scale:g}"]
    top, step = max(counts), (_WIDTH - _LEFT - _RIGHT) / len(counts)
    bars = tuple(
        Bar(
            x=round(_LEFT + i * step + 1.5, 1),
            y=round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * count / top, 1),
            width=round(step - 3, 1),
            height=round((_HEIGHT - _TOP - _BOTTOM) * count / top, 1),
            label=labels[i],
            value=str(count),
        )
        for i, count in enumerate(counts)
    )
    perfect, none = counts[-1], sum(score == 0 for score in scores)
    return BarChart(
        name=name,
        title=f"Distribution of scores: {scorer_id}",
        description=f"Of {len(scores)} scored rows {perfect} have the full score of {scale:g} and {none} have 0.",
        heads=("score", "rows"),
        bars=bars,
    )


def curve_chart(curve: Curve) -> LineChart | None:
    """Recall@k over k with its 95 % band; None when nothing was retrieved."""
    if not curve.points:
        return None
    longest = len(curve.points)
    across, up = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(k: int) -> float:
        return round(_LEFT + across * (k / longest), 1)

    def y(value: float) -> float:
        return round(_HEIGHT - _BOTTOM - up * value / curve.scale, 1)

    every = max(1, -(-longest // 10))
    dots = [Dot(x=x(0), y=y(0), label="0", value="0.00", tick=True)]
    upper, lower = [f"{x(0)},{y(0)}"], [f"{x(0)},{y(0)}"]
    for point in curve.points:
        value = point.recall.value or 0.0
        dots.append(Dot(x=x(point.k), y=y(value), label=str(point.k), value=f"{value:.2f}", tick=point.k % every == 0))
        upper.append(f"{x(point.k)},{y(value if point.recall.high is None else point.recall.high)}")
        lower.append(f"{x(point.k)},{y(value if point.recall.low is None else point.recall.low)}")
    full = curve.full.value or 0.0
    enough = "" if curve.enough is None else f" {curve.enough} chunks are enough for 95 % of that."
    return LineChart(
        name="curve",
        title="Recall@k",
        description=f"Mean recall with the first k chunks rises to {full:.2f} at k = {longest}.{enough}",
        heads=("k", "mean recall@k"),
        dots=tuple(dots),
        band=" ".join(upper + lower[::-1]),
        grid=tuple((y(curve.scale * part), f"{curve.scale * part:g}") for part in (0, 0.5, 1)),
        marked=None if curve.enough is None else (x(curve.enough), f"95 % at k = {curve.enough}"),
    )


def cost_charts(usage: Usage) -> list[BarChart]:
    """Calls and tokens; empty when no provider was asked and nothing came from the cache."""
    if not usage.calls and not usage.cached_calls:
        return []
    calls = [("to the provider", usage.calls), ("from the cache", usage.cached_calls)]
    tokens = [("input", usage.input_tokens), ("output", usage.output_tokens)]
    return [
        _lying("calls", "Judge calls", ("answered", "calls"), calls),
        _lying("tokens", "Tokens of the judge", ("kind", "tokens"), tokens),
    ]


def _lying(name: str, title: str, heads: tuple[str, str], numbers: Sequence[tuple[str, int]]) -> BarChart:
    top, left, line = max(1, *(number for _, number in numbers)), 100, 30
    bars = tuple(
        Bar(
            x=left,
            y=8 + i * line,
            width=round((_WIDTH - left - 90) * number / top, 1),
            height=line - 10,
            label=label,
            value=f"{number:,}",
        )
        for i, (label, number) in enumerate(numbers)
    )
    said = ", ".join(f"{number:,} {label}" for label, number in numbers)
    return BarChart(
        name=name,
        title=title,
        description=f"{said}.",
        heads=heads,
        bars=bars,
        sideways=True,
        height=16 + line * len(numbers),
    )
