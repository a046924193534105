"""Numbers, dates and times in one form: 4,523,000 = 4.523 million = 452.3万; 3月 = March; 午後8時 = 8 pm."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, NamedTuple

__all__ = ["NUMBER_WORDS", "Number", "find_numbers", "satisfies"]

Kind = Literal["number", "percent", "month", "time", "ordinal"]
Bound = Literal["=", ">", "<", "~"]


class Number(NamedTuple):
    """A quantity in a text.

    Attributes:
        value: The number; for a month 1 to 12, for a time minutes after midnight.
        kind: What is counted.
        bound: "=" as it is, ">" or "<" when it is a limit ("over 20,000"), "~" when approximate.
        start: Where it begins in the text.
        end: Where it ends (exclusive).
        weak: Whether it may well be no number at all ("one", "first", 一).
        half_day: Whether a time does not say which half of the day it means.
    """

    value: float
    kind: Kind
    bound: Bound
    start: int
    end: int
    weak: bool = False
    half_day: bool = False

    @property
    def form(self) -> str:
        """What equal quantities have in common, as a word to compare."""
        mark = {"number": "", "ordinal": "", "percent": "%", "month": "m", "time": "t"}[self.kind]
        return f"#{self.value:g}{mark}" if abs(self.value) < 1e5 else f"#{self.value:.12g}{mark}"


_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = {name: i for i, name in enumerate(_MONTHS, 1)} | {name[:3]: i for i, name in enumerate(_MONTHS, 1)}
_MONTH["sept"] = 9
_UNITS = {
    name: i
    for i, name in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
}
_TENS = {name: 10 * i for i, name in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_ORDINALS = {
    name: i
    for i, name in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split(),
        1,
    )
} | {"thirtieth": 30}
_SCALES = {"hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12}
_SHORT = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12}
_OTHERS = {"twice": 2, "thrice": 3, "half": 0.5, "both": 2}
NUMBER_WORDS = frozenset([*_MONTH, *_UNITS, *_TENS, *_ORDINALS, *_SCALES, *_OTHERS])
"""Words, in lower case, that `find_numbers` may read."""

_HAN_DIGITS = {char: i for i, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000}
_HAN_MYRIADS = {"万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "兆": 1e12}
_COUNTERS = (
    "个個名人次回日月年天歲岁才元円圆块塊米公里里条條只隻片台臺部本枚匹件层層座位章节節世纪紀点點時时分秒度倍歩步"
    "頭头辆輛艘架家所间間棟栋级級届屆等種种类類割成杯瓶盒袋册冊篇首集季代周週星号號楼樓口把張张双雙对對株棵颗顆粒"
    "滴升吨噸克斤両畝亩坪尺寸丈カケヶ箇か階軒つ"
)

_FULL = str.maketrans("０１２３４５６７８９．，：％", "0123456789.,:%")
_DIGITS = r"[0-9０-９]"
_NUMERAL = rf"{_DIGITS}+(?:[.,．，]{_DIGITS}+)*"
# The first character decides at most places, so it is looked at first.
_PATTERN = re.compile(
    rf"(?=[0-9０-９午上下晚夜朝早凌百第〇零一二三四五六七八九十千万萬亿億兆两兩])"
    rf"(?:(?P<iso>(?<!\d){_DIGITS}{{4}}[-/.]{_DIGITS}{{1,2}}[-/.]{_DIGITS}{{1,2}}(?!\d))"
    rf"|(?P<slash>(?<![\d/]){_DIGITS}{{1,2}}/{_DIGITS}{{1,2}}/{_DIGITS}{{2,4}}(?![\d/]))"
    rf"|(?P<clock>(?<![\d:]){_DIGITS}{{1,2}}[:：]{_DIGITS}{{2}}(?![\d:])(?:\s?(?P<clock_half>[ap]\.?m\b\.?))?)"
    rf"|(?P<hour>(?<![\d.,]){_DIGITS}{{1,2}}\s?(?P<hour_half>[ap]\.?m\b\.?|o['’]clock))"
    rf"|(?P<cjk_time>(?P<cjk_half>午前|午後|午后|上午|下午|晚上|夜|朝|早上|凌晨)?"
    rf"(?P<cjk_hour>{_DIGITS}{{1,2}}|[〇一二三四五六七八九十两兩]{{1,3}})"
    rf"(?P<cjk_mark>時(?!間|间)|时(?!间)|[点點])(?:(?P<cjk_minute>{_DIGITS}{{1,2}})分|(?P<cjk_30>半)|(?P<sharp>整|ちょうど))?)"
    rf"|(?P<cjk_month>(?<![\d.]){_DIGITS}{{1,2}}月|(?<![一二三四五六七八九十])(?:十[一二]|[一二三四五六七八九十])月)"
    rf"|(?P<percent_of>百分之(?P<percent_value>{_NUMERAL}|[〇零一二三四五六七八九十百]+))"
    rf"|(?P<mixed>(?:{_NUMERAL}\s?[十百千]?[万萬亿億兆千])(?:{_NUMERAL}?[百千]?[万萬亿億]?)*)"
    rf"|(?P<plain>{_NUMERAL}(?:(?P<suffix>st|nd|rd|th)\b)?"
    rf"(?:\s?(?P<unit>%|％|割|percent\b|per\s?cent\b|(?:thousand|million|billion|trillion|dozen)\b)|\s?(?P<short>k|m|mn|bn|b|tn)(?![\w.]))?)"
    r"|(?P<han>第?[〇零一二三四五六七八九十百千万萬亿億兆两兩]+))",
    re.IGNORECASE,
)
_OVER = (
    r"over|more than|at least|above|exceed\w*|upwards? of|no fewer than|no less than|minimum of"
    "|超过|超過|逾|多于|多於|高于|高於|至少|不少于|不低于|大于|大於"
)
_UNDER = (
    r"(?<!no )less than|under|(?<!no )fewer than|below|up to|at most|no more than|maximum of"
    "|不到|未满|未滿|少于|少於|不足|低于|低於|至多|最多|小于|小於|不超过|不超過"
)
_ABOUT = (
    r"about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca?\.|some"
    "|约|約|大约|大約|将近|將近|近|およそ|ほぼ|上下"
)
_BEFORE = re.compile(
    rf"(?:(?P<under>{_UNDER})|(?P<over>{_OVER})|(?P<about>{_ABOUT}))\s*(?:the|a|an)?\s*[$€£¥]?\s*$", re.I
)
_AFTER = re.compile(
    r"[\s\-]*(?:(?P<over>or more|plus|\+|and over|\S{0,4}?(?:以上|余|餘|を超え|を上回))"
    r"|(?P<under>or less|or fewer|or under|\S{0,4}?(?:以下|未満|未滿|以内|以內|を下回))"
    r"|(?P<about>or so|\S{0,3}?(?:左右|ほど|前後|程度)))",
    re.I,
)


_WORD = re.compile(r"[a-z]+")
_ANY_WORD = re.compile(r"[A-Za-z]+")


def find_numbers(text: str, start: int, end: int) -> list[Number]:
    """The quantities in `text[start:end]`, in order; ISO dates give three, year, month and day."""
    found = [number for match in _PATTERN.finditer(text, start, end) for number in _read(match)]
    if not NUMBER_WORDS.isdisjoint(_WORD.findall(text[start:end].lower())):
        taken = {at for number in found for at in range(number.start, number.end)}
        found.extend(number for number in _worded(text, start, end) if number.start not in taken)
        found.sort(key=lambda number: number.start)
    return [_bounded(number, text, start, end) for number in found]


def _worded(text: str, start: int, end: int) -> list[Number]:
    """The quantities written in English words."""
    found: list[Number] = []
    words: list[re.Match[str]] = []
    for match in _ANY_WORD.finditer(text, start, end):
        lower = match.group().lower()
        if words and not _continues(text, words[-1], match):
            found.extend(_read_words(words))
            words = []
        if lower in NUMBER_WORDS or words:
            words.append(match)
    found.extend(_read_words(words))
    return found


def _continues(text: str, before: re.Match[str], word: re.Match[str]) -> bool:
    """Whether a word belongs to the number that the word before it begins ("two hundred and fifty-one")."""
    between = text[before.end() : word.start()]
    last, lower = before.group().lower(), word.group().lower()
    if len(between) > 2 or between.strip(" -\u2011\u2010"):
        return False
    if last in _SCALES:
        return lower in _SCALES or lower in _UNITS or lower in _TENS or lower in _ORDINALS or lower == "and"
    if last in ("and", "a"):
        return lower in _UNITS or lower in _TENS or lower in _ORDINALS or lower in ("a", "half")
    if lower == "and":
        return text.startswith(" a half", word.end())
    if last in _TENS:
        return 0 < _UNITS.get(lower, 0) < 10 or _ORDINALS.get(lower, 10) < 10 or lower in _SCALES
    return (last in _UNITS or last == "half") and lower in _SCALES


def _read(match: re.Match[str]) -> list[Number]:
    group = match.group
    start, end = match.span()
    if group("iso"):
        year, month, day = (float(part) for part in re.split(r"[-/.]", group().translate(_FULL)))
        if month > 12 or not month:
            return [Number(year, "number", "=", start, end)]
        return [
            Number(year, "number", "=", start, start + 4),
            Number(month, "month", "=", start + 5, end - 1 - len(group()[5:].split(group()[4])[1])),
            Number(day, "number", "=", end - len(group()[5:].split(group()[4])[1]), end),
        ]
    if group("slash"):
        return _slash_date(group().translate(_FULL), start)
    if group("clock"):
        hour, minute = group().translate(_FULL)[:5].rstrip(" apmAPM.").split(":")
        return [_time(int(hour), int(minute[:2]), group("clock_half"), start, end)]
    if group("hour"):
        hour = int(re.match(r"\d+", group().translate(_FULL)).group())  # pyright: ignore[reportOptionalMemberAccess]
        return [_time(hour, 0, group("hour_half"), start, end)]
    if group("cjk_time"):
        return _cjk_time(match)
    if group("cjk_month"):
        value = (
            _han_value(group()[:-1]) if group()[0] in "一二三四五六七八九十" else float(group()[:-1].translate(_FULL))
        )
        return [Number(value, "month", "=", start, end)] if 1 <= value <= 12 else []
    if group("percent_of"):
        text = group("percent_value")
        value = _han_value(text) if text[0] in "〇零一二三四五六七八九十百" else _decimal(text)
        return [Number(value, "percent", "=", start, end)]
    if group("mixed"):
        return [Number(_han_value(group()), "number", "=", start, end)]
    if group("han"):
        return _han(match)
    return _plain(match)


def _slash_date(text: str, start: int) -> list[Number]:
    parts = text.split("/")
    numbers: list[Number] = []
    at = start
    for i, part in enumerate(parts):
        value = float(part)
        if i == 2 and len(part) == 2:
            value += 2000 if value < 50 else 1900
        # Which of the first two is the month can't be told; the one that can't be a day is.
        month = i < 2 and value <= 12 and (i == 0) == (float(parts[1]) > 12 or float(parts[0]) <= 12)
        numbers.append(Number(value, "month" if month else "number", "=", at, at + len(part)))
        at += len(part) + 1
    return numbers


def _time(hour: int, minute: int, half: str | None, start: int, end: int) -> Number:
    half = (half or "").lower().replace(".", "")
    if half in ("pm", "午後", "午后", "下午", "晚上", "夜") and hour < 12:
        hour += 12
    elif half in ("am", "午前", "上午") and hour == 12:
        hour = 0
    known = half not in ("", "o'clock", "o’clock") or hour > 12
    return Number(60 * hour + minute, "time", "=", start, end, half_day=not known)


def _cjk_time(match: re.Match[str]) -> list[Number]:
    group = match.group
    start, end = match.span()
    text = group("cjk_hour")
    hour = int(_han_value(text) if text[0] in "〇一二三四五六七八九十两兩" else float(text.translate(_FULL)))
    is_time = group("cjk_half") or group("cjk_minute") or group("cjk_30") or group("sharp")
    if group("cjk_mark") in "点點" and not is_time:
        return [Number(hour, "number", "=", start, end - 1, weak=hour == 1)]
    minute = 30 if group("cjk_30") else int((group("cjk_minute") or "0").translate(_FULL))
    return [_time(hour, minute, group("cjk_half"), start, end)]


def _decimal(text: str) -> float:
    text = text.translate(_FULL)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text) or text.count(",") > 1:
        text = text.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?", text):
        text = text.replace(".", "").replace(",", ".")
    else:
        text = text.replace(",", ".")
    whole, _, rest = text.partition(".")
    # 300 digits and more are no quantity, but must not overflow either.
    return float(f"{whole[:300]}.{rest.replace('.', '')[:30] or '0'}")


def _plain(match: re.Match[str]) -> list[Number]:
    group = match.group
    start, end = match.span()
    numeral = re.match(_NUMERAL, group()).group()  # pyright: ignore[reportOptionalMemberAccess]
    value = _decimal(numeral)
    unit = (group("unit") or "").lower().replace(" ", "")
    if unit in ("%", "％", "percent", "percent", "割"):
        return [Number(value * (10 if unit == "割" else 1), "percent", "=", start, end)]
    if unit:
        return [Number(value * _SCALES[unit], "number", "=", start, end)]
    if group("short"):
        # "5 m" and "5m" are metres unless money says otherwise; only k and bn are sure.
        short = group("short").lower()
        money = match.start() > 0 and match.string[match.start() - 1] in "$€£¥"
        if money or short in ("bn", "tn", "mn"):
            return [Number(value * _SHORT[short], "number", "=", start, end)]
        return [Number(value, "number", "=", start, start + len(numeral))]
    return [Number(value, "ordinal" if group("suffix") else "number", "=", start, end)]


def _han_value(text: str) -> float:
    """The value of Chinese numerals, also mixed with digits (1亿2000万, 四百五十万, 二〇二五)."""
    text = unicodedata.normalize("NFKC", text)
    if len(text) > 1 and all(char in _HAN_DIGITS for char in text):
        return float("".join(str(_HAN_DIGITS[char]) for char in text[:300]))
    total = section = 0.0
    current: float | None = None
    for part in re.findall(r"\d+(?:[.,]\d+)*|\D", text):
        if part[0].isdigit():
            current = _decimal(part)
        elif part in _HAN_DIGITS:
            current = float(_HAN_DIGITS[part])
        elif part in _HAN_SCALES:
            section += (1 if current is None else current) * _HAN_SCALES[part]
            current = None
        elif part in _HAN_MYRIADS:
            total += (section + (current or 0) or 1) * _HAN_MYRIADS[part]
            section, current = 0.0, None
    return total + section + (current or 0)


def _han(match: re.Match[str]) -> list[Number]:
    text, (start, end) = match.group(), match.span()
    ordinal = text[0] == "第"
    body = text[1:] if ordinal else text
    follower = match.string[end : end + 1]
    if not body or (body[0] in "万萬亿億兆百千" and len(body) == 1 and not ordinal):
        return []
    if len(body) == 1 and not ordinal and follower not in _COUNTERS:
        return []
    if body == "一" and match.string[end : end + 2] in ("一番", "一定"):
        return []
    weak = (len(body) == 1 and body in "一") or (len(body) == 1 and not follower)
    return [Number(_han_value(body), "ordinal" if ordinal else "number", "=", start, end, weak=weak)]


def _read_words(words: list[re.Match[str]]) -> list[Number]:
    """Reads a run of number words; "and" and "a" at its end belong to the text around it."""
    while words and words[-1].group().lower() in ("and", "a"):
        words = words[:-1]
    if not words:
        return []
    start, end = words[0].start(), words[-1].end()
    names = [word.group().lower() for word in words]
    if any(name in _MONTH for name in names):
        return [number for word in words for number in _month(word)]
    if len(names) == 1 and names[0] in _SCALES and words[0].string[max(0, start - 2) : start].lower() != "a ":
        return []
    total = current = 0.0
    ordinal = False
    for name in names:
        if name in _UNITS or name in _TENS:
            current += _UNITS.get(name, 0) + _TENS.get(name, 0)
        elif name in _ORDINALS:
            current += _ORDINALS[name]
            ordinal = True
        elif name in _OTHERS:
            current += _OTHERS[name]
        elif name == "hundred" or name == "dozen":
            current = (current or 1) * _SCALES[name]
        elif name in _SCALES:
            total += (current or 1) * _SCALES[name]
            current = 0.0
    weak = len(names) == 1 and names[0] in ("one", "first", "second", "half", "both", "zero", "third")
    return [Number(total + current, "ordinal" if ordinal else "number", "=", start, end, weak=weak)]


def _month(word: re.Match[str]) -> list[Number]:
    name = word.group()
    lower = name.lower()
    if lower not in _MONTH or not name[0].isupper():
        return []
    around = word.string[max(0, word.start() - 8) : word.start()], word.string[word.end() : word.end() + 6]
    # "May", "March" and short forms are months beside a number only, or after a preposition.
    sure = lower not in ("may", "march", "mar", "jan", "jun", "dec", "sep", "oct") or (
        re.search(r"\d|\b(?:in|of|since|until|on|last|by)\s+$", around[0]) or re.search(r"\d", around[1])
    )
    return [Number(_MONTH[lower], "month", "=", word.start(), word.end())] if sure else []


def _bounded(number: Number, text: str, start: int, end: int) -> Number:
    if number.kind in ("month", "time", "ordinal"):
        return number
    before = _BEFORE.search(text, max(start, number.start - 24), number.start)
    after = _AFTER.match(text, number.end, min(end, number.end + 12))
    for match in (before, after):
        if match is not None:
            bound: Bound = ">" if match.group("over") else "<" if match.group("under") else "~"
            return number._replace(bound=bound)
    return number


def satisfies(claimed: Number, stated: Number) -> bool | None:
    """Whether a stated quantity bears out a claimed one; None when they are of kinds that can't be compared."""
    kinds = {claimed.kind, stated.kind}
    if kinds == {"time"}:
        apart = abs(claimed.value - stated.value)
        return apart == 0 or (apart == 720 and (claimed.half_day or stated.half_day))
    if "time" in kinds:
        hour = claimed if claimed.kind == "time" else stated
        other = stated if hour is claimed else claimed
        return True if other.kind == "number" and hour.value in (60 * other.value, 60 * (other.value + 12)) else None
    if "month" in kinds or "percent" in kinds:
        return claimed.value == stated.value if len(kinds) == 1 else None
    return _within(claimed, stated)


def _within(claimed: Number, stated: Number) -> bool:
    low, high = claimed.value, stated.value
    if claimed.bound == "=":
        return low == high and stated.bound in ("=", "~")
    if claimed.bound == ">":
        return (high >= low and stated.bound in ("=", ">", "~")) and high <= 100 * max(low, 1)
    if claimed.bound == "<":
        return high <= low and stated.bound in ("=", "<", "~") and high * 100 >= low
    return abs(low - high) <= 0.1 * max(abs(low), abs(high))
