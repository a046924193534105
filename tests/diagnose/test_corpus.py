"""Reading a corpus, and the index over it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcov.diagnosis import Bm25Index, Corpus, CorpusChunk, read_corpus
from ragcov.diagnosis.corpus import join_texts
from ragcov.diagnosis.index import tokens
from ragcov.errors import DataError, StoreError


def make(*texts: str) -> Corpus:
    return Corpus(CorpusChunk(str(number), text) for number, text in enumerate(texts))


def test_a_directory_is_cut_into_paragraphs(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_bytes("# 長橋\r\n\r\n長橋建於1934年。\r\n第二行。\r\n".encode())
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.TXT").write_text("\ufeffOne.\n \nTwo.\n\n\n", encoding="utf-8")
    (tmp_path / "image.png").write_bytes(b"\x89PNG")
    corpus = read_corpus(tmp_path)
    assert [(chunk.id, chunk.text, chunk.document) for chunk in corpus.chunks] == [
        ("b.md#1", "# 長橋", "b.md"),
        ("b.md#2", "長橋建於1934年。\n第二行。", "b.md"),
        ("sub/a.TXT#1", "One.", "sub/a.TXT"),
        ("sub/a.TXT#2", "Two.", "sub/a.TXT"),
    ]
    assert corpus.neighbours(0, 1)
    assert not corpus.neighbours(1, 2)
    assert not corpus.neighbours(1, 0)


@given(st.text("ab。. \n", min_size=1, max_size=50), st.integers(1, 400))
@settings(max_examples=30, deadline=None)
def test_long_paragraphs_are_cut_without_loss(tmp_path_factory: pytest.TempPathFactory, text: str, times: int) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "a.txt").write_text("x" + text * times, encoding="utf-8")
    chunks = read_corpus(folder).chunks
    assert all(0 < len(chunk.text) <= 2000 for chunk in chunks)
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(("x" + text * times).split())


def test_jsonl_keeps_order_and_documents(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"id": 1, "text": "a", "document": "d"}\n\n{"text": "b"}\n', encoding="utf-8")
    corpus = read_corpus(path)
    assert [(chunk.id, chunk.text, chunk.document) for chunk in corpus.chunks] == [
        ("1", "a", "d"),
        ("line 3", "b", None),
    ]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("", "no text in it"),
        ('{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n', '"a" was used before'),
        ('{"id": "a", "text": "x"}\n{"id": "b"}\n', 'line 2, field "text"'),
        ('{"id": [], "text": "x"}\n', 'field "id"'),
        ('{"id": "b", "text": "x", "document": 1}\n', 'field "document"'),
        ("[1]\n", "line 1: expected an object"),
        ("{\n", "line 1: not JSON"),
        ('{"text": "\xff"}\n', "line 1"),
    ],
)
def test_bad_corpora_name_the_place(lines: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(lines.encode("latin-1"))
    with pytest.raises(DataError, match=problem):
        read_corpus(path)


def test_bad_directories_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no \.txt or \.md file"):
        read_corpus(tmp_path)
    (tmp_path / "a.txt").write_bytes("長橋".encode("big5"))
    with pytest.raises(DataError, match=r"a\.txt: not UTF-8"):
        read_corpus(tmp_path)


def test_joined_texts_have_spaces_where_the_language_has() -> None:
    assert join_texts("built in ", " 1871") == "built in 1871"
    assert join_texts("由建築師", "林若水設計") == "由建築師林若水設計"


def test_tokens_of_words_numbers_and_characters() -> None:
    assert list(tokens("The castles cost 8,848.86")) == list(tokens("castle cost 8848.86"))
    assert list(tokens("長橋建於1934年")) == ["长桥", "桥建", "建于", "1934", "年"]
    assert list(tokens("长桥")) == list(tokens("長橋"))
    assert list(tokens("ラーメン")) == ["ラー", "ーメ", "メン"]
    assert list(tokens("…!")) == []


def test_search_finds_the_words_in_any_script() -> None:
    index = Bm25Index(make("Harn has a castle.", "長橋建於1934年。", "富士山は高い。", "Nothing else."))
    assert index.search("castle", 10) == [0]
    assert index.search("长桥", 10) == [1]
    assert index.search("富士山", 10) == [2]
    assert index.search("zebra", 10) == []
    assert index.search("", 10) == []


@given(st.lists(st.text("abc 長橋", max_size=8), min_size=1, max_size=8), st.text("abc 長橋", max_size=8))
@settings(max_examples=40, deadline=None)
def test_rank_is_the_place_in_the_search(texts: list[str], query: str) -> None:
    index = Bm25Index(make(*texts))
    found = index.search(query, len(texts))
    assert [index.rank(query, position) for position in found] == list(range(1, len(found) + 1))
    assert index.search(query, 2) == found[:2]
    assert all(index.rank(query, position) is None for position in range(len(texts)) if position not in found)


def test_the_index_is_kept_and_made_anew_when_a_text_changes(tmp_path: Path) -> None:
    kept = tmp_path / ".ragcov" / "corpus"
    first = Bm25Index(make("red fox", "blue whale"), kept)
    second = Bm25Index(make("red fox", "blue whale"), kept)
    assert (first.loaded, second.loaded) == (False, True)
    assert second.search("whale", 5) == [1]
    assert not Bm25Index(make("red fox", "blue whales"), kept).loaded
    assert (tmp_path / ".ragcov" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("damage", [b"", b"\x80\x04K\x01.", b"junk"])
def test_a_damaged_index_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    Bm25Index(make("red fox", "blue whale"), tmp_path / "corpus")
    for file in (tmp_path / "corpus").rglob("*.*"):
        if file.is_file():
            file.write_bytes(damage)
    again = Bm25Index(make("red fox", "blue whale"), tmp_path / "corpus")
    assert not again.loaded
    assert again.search("whale", 5) == [1]
    assert Bm25Index(make("red fox", "blue whale"), tmp_path / "corpus").loaded


def test_an_index_that_can_not_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="RAGCOV_CACHE"):
        Bm25Index(make("a b c"), tmp_path / "file" / "corpus")
