"""A sentence made ready for comparing: its words in one form, its numbers, what it negates."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache

from ragcov.judges.offline.numbers import Number, find_numbers
from ragcov.judges.offline.segment import CJK, sentences
from ragcov.judges.offline.words import STOP, plain_form, stem, weight
from ragcov.language import fold_han

__all__ = ["Passage", "is_doubtful", "is_hedged", "passages_of", "quantifiers", "read_passage"]

_TOKEN = re.compile(
    r"(?P<url>(?:https?://|www\.)[^\s" + CJK + r"]+)"
    r"|(?P<cite>\[\d{1,3}(?:,\s*\d{1,3})*\])"
    r"|(?P<digits>\d+(?:[.,]\d+)*)"
    r"|(?P<kana>[\u30a1-\u30ff]+)"
    r"|(?P<han>[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff])"
    r"|(?P<hira>[\u3041-\u3096])"
    r"|(?P<word>[^\W\d_" + CJK + r"]+(?:['’][^\W\d_" + CJK + r"]+)*)"
    r"|(?P<stop>[.,;:!?()。，、；：！？（）…\n—])"
)
_LIGHT_HAN = frozenset("不没未无勿的了是在和与及有也就都而着过把被这那其之等于以为个所对中上下将从并则者会能可到地得")
_NOT_EN = frozenset("not no never none nobody nothing nowhere neither nor cannot without unable hardly".split())
_NOT_ZH = re.compile(
    r"(?<![特区分级差个辨性])(?:不(?![仅但过断同久少足满论管超到])|没(?!收)|未(?![来满])|无(?![论数锡])|勿|别(?![人的墅])|禁(?!忌)|并非|绝非|是非)"
)
_NOT_JA = re.compile(
    r"(?<![少危切])(?:な(?:い(?!か)|かった|く(?!な[るっ]))|ません|ず(?=[、。にと])|ぬ(?=[、。]))|[不未無]"
)
_QUANTIFIER = re.compile(
    r"(?P<all>\b(?:all|every|everyone|everything|each|always|entire|entirely|whole)\b|都|所有|全部|一切|从来|总是|全体|每个|人人|すべて|全て|全員|みんな|いつも)"
    r"|(?P<only>\b(?:only|solely|exclusively|sole)\b|只|仅|唯一|だけ|のみ|しか)"
    r"|(?P<must>\b(?:must|required|mandatory|has to|have to)\b|必须|必定|一定|肯定|必ず|なければならない)"
    r"|(?P<most>\b(?:most|largest|biggest|highest|longest|oldest|first|best)\b|最|一番)"
    r"|(?P<will>\b(?:will|plans? to|going to|expected to|scheduled to)\b|将要|将会|即将|打算|予定)",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:may|might|could|possibly|perhaps|probably|some|at least|can)\b"
    r"|可能|也许|或许|有些|有的|一些|有人|至少|某|かもしれ|一部|いくつか|場合がある",
    re.IGNORECASE,
)


def quantifiers(folded: str) -> frozenset[str]:
    """Which kinds of words that make a statement stronger a sentence has: "all", "only", "must", "most", "will"."""
    return frozenset(match.lastgroup or "" for match in _QUANTIFIER.finditer(folded))


def is_hedged(folded: str) -> bool:
    """Whether a sentence says "may", "some" or the like."""
    return _HEDGE.search(folded) is not None


_DOUBT = re.compile(
    r"\b(?:may|might|could|possibly|perhaps|probably|allegedly|reportedly|rumou?rs?|claims? that"
    r"|is said to|are said to|planned"
    r"|proposed)\b|可能|也许|或许|据说|据称|传闻|かもしれ|らしい|とされる|だろう|と言われ",
    re.IGNORECASE,
)


def is_doubtful(folded: str) -> bool:
    """Whether a sentence leaves open if what it says is so: "may", "reportedly", "planned"."""
    return _DOUBT.search(folded) is not None


_NOT_NOT = re.compile(
    r"なければ(?:なら|いけ)(?:ない|ません|なかった)|なくては(?:なら|いけ)(?:ない|ません)|かもしれ(?:ない|ません)|違いない|違いありません"
    r"|だけで(?:は)?なく|のみならず|不得不|不可不|非不"
)


class Passage:
    """One sentence of a text.

    Attributes:
        start: Where it begins in the text.
        end: Where it ends (exclusive).
        forms: The compared form of each content word, number or character, in order.
        spans: Where each of them stands in the text.
        weights: How much each of them tells (0 to 1).
        kinds: "w" word, "n" name, "#" number, "h" Chinese character, "k" katakana, "j" hiragana.
        numbers: The number at a position.
        negated: Positions in the scope of a negation.
        negations: How many negations there are.
        folded: The sentence with its Chinese characters folded.
        topic: How many words from the first on name what the sentence is about; 0 when that is not clear.
    """

    __slots__ = (
        "end",
        "folded",
        "forms",
        "kinds",
        "negated",
        "negations",
        "numbers",
        "spans",
        "start",
        "topic",
        "weights",
    )

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.forms: list[str] = []
        self.spans: list[tuple[int, int]] = []
        self.weights: list[float] = []
        self.kinds: list[str] = []
        self.numbers: dict[int, Number] = {}
        self.negated: set[int] = set()
        self.negations = 0
        self.topic = 0
        self.folded = ""

    def add(self, form: str, kind: str, weight_: float, start: int, end: int) -> None:
        """Adds a word at the end."""
        self.forms.append(form)
        self.kinds.append(kind)
        self.weights.append(weight_)
        self.spans.append((start, end))

    def marks(self, end: int | None = None) -> list[str]:
        """Names, rare words and pairs of Chinese characters among the first `end` words; all without `end`."""
        kinds, weights, forms = self.kinds[:end], self.weights[:end], self.forms[:end]
        found = [
            form
            for form, weight_, kind in zip(forms, weights, kinds, strict=True)
            if kind == "n" or (weight_ >= 0.85 and kind in "wk")
        ]
        if "h" in kinds:
            heavy = [kind == "h" and weight_ > 0.1 for kind, weight_ in zip(kinds, weights, strict=True)]
            found += [a + b for a, b, x, y in zip(forms, forms[1:], heavy, heavy[1:], strict=False) if x and y]
        return found


@lru_cache(maxsize=65536)
def _word(word: str) -> tuple[str, float, bool]:
    """Form, weight and whether it negates."""
    plain = plain_form(word).replace("’", "'")
    if plain.endswith("n't"):
        return "", 0.0, True
    plain = plain.removesuffix("'s").replace("'", "")
    if plain in _NOT_EN:
        return "", 0.0, True
    if plain in STOP or not plain:
        return "", 0.0, False
    form = stem(plain)
    return form, weight(form), False


def read_passage(text: str, start: int, end: int) -> Passage:
    """Reads the sentence `text[start:end]`."""
    passage = Passage(start, end)
    numbers = {number.start: number for number in find_numbers(text, start, end)}
    folded = text[start:end] if text.isascii() else fold_han(text[start:end])
    cues: list[int] = []
    breaks: list[int] = []
    add = passage.add
    done = start
    first = True
    for match in _TOKEN.finditer(text, start, end):
        at, stop = match.span()
        if at < done:
            continue
        kind = match.lastgroup
        if numbers and (number := numbers.get(at)) is not None:
            passage.numbers[len(passage.forms)] = number
            add(number.form, "#", 0.4 if number.weak else 1.0, at, number.end)
            done = number.end
        elif kind == "word":
            word = match.group()
            form, weight_, negates = _word(word)
            if form:
                add(form, "n" if not first and word[0].isupper() else "w", weight_, at, stop)
            elif negates:
                cues.append(len(passage.forms))
        elif kind == "stop":
            breaks.append(len(passage.forms))
            continue
        elif kind == "han":
            char = folded[at - start]
            add(char, "h", 0.08 if char in _LIGHT_HAN else 0.5, at, stop)
        elif kind == "hira":
            add(match.group(), "j", 0.1, at, stop)
        elif kind == "kana":
            add(match.group().rstrip("ー"), "k", 1.0, at, stop)
        elif kind == "url":
            add(match.group().rstrip(".,;:!?)").lower(), "w", 1.0, at, stop)
        elif kind == "digits":
            add("#" + match.group(), "#", 0.5, at, stop)
        first = False
    passage.topic = _topic(passage, folded)
    if cues:
        _scope_after(passage, cues, breaks, 3)
    passage.folded = folded
    if not folded.isascii():
        _negations_cjk(passage, folded, breaks)
    return passage


_JA_TOPIC = re.compile(r"^[^、。「」，,]{1,24}?[はが]")
_ZH_TOPIC = re.compile(
    r"^[^，。、；：,;]{2,12}?(?=是|有|位于|建于|属于|成为|由|可|能|会|在|包括|拥有|使用|应|被|于|出生|毕业|成立|创|发|提出|领导|担任|设计|不)"
)


def _topic(passage: Passage, folded: str) -> int:
    """English: the name that the sentence begins with; Japanese: before は or が; Chinese: before the predicate."""
    if not passage.kinds:
        return 0
    if passage.kinds[0] in "wn":
        count = 0
        for kind, span in zip(passage.kinds, passage.spans, strict=True):
            if kind == "n" or (count == 0 and folded[span[0] - passage.start].isupper()):
                count += 1
            else:
                break
        return count if "n" in passage.kinds[:count] else 0
    match = (_JA_TOPIC if "j" in passage.kinds else _ZH_TOPIC).match(folded)
    if match is None:
        return 0
    end = passage.start + match.end()
    return sum(
        1 for span, weight_ in zip(passage.spans, passage.weights, strict=True) if span[1] <= end and weight_ > 0
    )


def _next(breaks: list[int], position: int, end: int) -> int:
    """The first break after a position."""
    at = bisect_right(breaks, position)
    return breaks[at] if at < len(breaks) else end


def _scope_after(passage: Passage, cues: list[int], breaks: list[int], reach: int) -> None:
    for cue in cues:
        stop = _next(breaks, cue, len(passage.forms))
        passage.negated.update(range(cue, min(stop, cue + reach)))
    passage.negations += len(cues)


def _negations_cjk(passage: Passage, folded: str, breaks: list[int]) -> None:
    starts = [span[0] - passage.start for span in passage.spans]
    doubles = {at for match in _NOT_NOT.finditer(folded) for at in range(*match.span())}
    japanese = "j" in passage.kinds
    for match in (_NOT_JA if japanese else _NOT_ZH).finditer(folded):
        if match.start() in doubles:
            continue
        passage.negations += 1
        if japanese and match.group() not in "不未無":
            before = bisect_left(starts, match.start())
            at = bisect_right(breaks, before) - 1
            left = max(breaks[at] if at >= 0 else 0, before - 24)
            passage.negated.update([i for i in range(left, before) if passage.kinds[i] in "hkwn#"][-4:])
        else:
            after = bisect_left(starts, match.end())
            right = min(_next(breaks, after - 1, len(starts)), after + 24)
            passage.negated.update([i for i in range(after, right) if passage.weights[i] > 0.1][:4])


# Longer chunks are read anew by each call, so that the cache holds 200 MB at most.
_CACHED = 4000


def passages_of(text: str) -> tuple[Passage, ...]:
    """The sentences of a chunk, made ready."""
    return _passages_cached(text) if len(text) <= _CACHED else _passages(text)


def _passages(text: str) -> tuple[Passage, ...]:
    return tuple(read_passage(text, start, end) for start, end in sentences(text))


_passages_cached = lru_cache(maxsize=1024)(_passages)
