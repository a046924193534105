import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov.language import detect_language, fold_han


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The ferry leaves at nine.", "en"),
        ("", "en"),
        ("42", "en"),
        ("🙂", "en"),
        ("يفتح المتحف في التاسعة", "en"),
        ("Паром отходит в девять.", "en"),
        ("The word 漢字 means Chinese characters in Japanese.", "en"),
        ("长桥建于1934年。", "zh-Hans"),
        ("長橋建於1934年。", "zh-Hant"),
        ("使用 PostgreSQL 儲存資料", "zh-Hant"),
        ("使用 PostgreSQL 存储数据", "zh-Hans"),
        ("営業時間は午前9時から", "ja"),
        ("営業時間", "ja"),
        ("ラーメン", "ja"),
        ("故宫在北京市中心。", "zh-Hans"),
        ("皇后在後面說話", "zh-Hant"),
    ],
)
def test_language(text: str, language: str):
    assert detect_language(text) == language


@given(st.text())
def test_any_text_has_a_language_and_folding_keeps_positions(text: str):
    assert detect_language(text) in ("en", "zh-Hant", "zh-Hans", "ja")
    assert len(fold_han(text)) == len(text)


def test_folding():
    assert fold_han("長橋建於臺灣") == fold_han("长桥建于台湾")
    assert fold_han("図書館") == fold_han("圖書館")
