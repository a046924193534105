"""Packing: nothing is lost, nothing is too long, indices lead back."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ragcov.judges.packing import Piece, estimate_tokens, pack, split_text

texts = st.text(st.sampled_from(list("ab .\n") + list("漢字。はé")), max_size=400)


@given(st.lists(texts, max_size=8), st.integers(5, 120))
def test_groups_hold_every_character_and_fit(chunks: list[str], budget: int) -> None:
    groups = pack(chunks, budget)
    covered = [[False] * len(chunk) for chunk in chunks]
    order: list[tuple[int, int]] = []
    for group in groups:
        size = sum(estimate_tokens(chunks[piece.chunk][piece.start : piece.end]) for piece in group)
        assert size <= budget
        for piece in group:
            order.append((piece.chunk, piece.start))
            covered[piece.chunk][piece.start : piece.end] = [True] * (piece.end - piece.start)
    assert all(all(flags) for flags in covered)
    assert order == sorted(order)
    assert {piece.chunk for group in groups for piece in group} == set(range(len(chunks)))


@given(texts, st.integers(5, 60))
def test_windows_overlap(chunk: str, budget: int) -> None:
    pieces = [piece for group in pack([chunk], budget) for piece in group]
    for first, second in pairwise(pieces):
        assert first.start < second.start <= first.end


@given(texts, st.integers(3, 60))
def test_spans_make_up_the_text(text: str, budget: int) -> None:
    spans = split_text(text, budget)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(estimate_tokens(text[start:end]) <= budget for start, end in spans)


def test_chunks_that_fit_are_one_group() -> None:
    assert pack(["one", "", "three"], 100) == [[Piece(0, 0, 3), Piece(1, 0, 0), Piece(2, 0, 5)]]


def test_windows_end_at_sentences() -> None:
    chunk = "This sentence has eight words in all, really. " * 40
    pieces = [piece for group in pack([chunk], 100) for piece in group]
    assert len(pieces) > 3
    assert all(chunk[piece.start : piece.end].rstrip().endswith("really.") for piece in pieces)


@settings(max_examples=20)
@given(st.sampled_from(["word ", "漢", "x", "文。"]))
def test_a_long_chunk_is_cut(part: str) -> None:
    chunk = part * (200_000 // len(part))
    pieces = [piece for group in pack([chunk], 24_000) for piece in group]
    assert pieces[0].start == 0
    assert pieces[-1].end == len(chunk)
    assert 3 <= len(pieces) <= 12


def test_the_estimate_is_careful() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("twelve chars") == 4
    assert estimate_tokens("十二個字元") == 5
