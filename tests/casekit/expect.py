"""The expectations of a case. Every key that is known is asserted; the rest are named to the caller."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from casekit.outcome import Outcome
from ragcov.language import detect_language

Check = Callable[[Outcome, Any, dict[str, Any]], None]


class UnknownKeyError(Exception):
    """Raised by a check for a part of its value that the runner does not know."""


def _folded(text: str) -> str:
    return text.casefold()


def _contains_any(text: str, words: list[str]) -> bool:
    return any(_folded(word) in _folded(text) for word in words)


def _score(outcome: Outcome, value: float, expect: dict[str, Any]) -> None:
    assert outcome.score is not None, outcome.error_text
    assert abs(outcome.score - value) <= expect.get("tolerance", 0.005) + 1e-9, outcome.result


def _score_min(outcome: Outcome, value: float, _: dict[str, Any]) -> None:
    assert outcome.score is not None and outcome.score >= value - 1e-9, outcome.result or outcome.error_text


def _score_max(outcome: Outcome, value: float, _: dict[str, Any]) -> None:
    assert outcome.score is not None and outcome.score <= value + 1e-9, outcome.result or outcome.error_text


def _score_exactly(outcome: Outcome, value: float, _: dict[str, Any]) -> None:
    assert outcome.score == value


def _claims(outcome: Outcome, value: int, _: dict[str, Any]) -> None:
    assert len(outcome.claims) == value, outcome.claims


def _claims_min(outcome: Outcome, value: int, _: dict[str, Any]) -> None:
    assert len(outcome.claims) >= value, outcome.claims


def _claims_max(outcome: Outcome, value: int, _: dict[str, Any]) -> None:
    assert len(outcome.claims) <= value, outcome.claims


def _attributed(outcome: Outcome, value: int, _: dict[str, Any]) -> None:
    assert len(outcome.claims_that_are(supported=True)) == value, outcome.result


def _supported_contains(outcome: Outcome, words: list[str], _: dict[str, Any]) -> None:
    for word in words:
        assert any(_contains_any(claim, [word]) for claim in outcome.claims_that_are(supported=True)), word


def _unsupported_contains(outcome: Outcome, words: list[str], _: dict[str, Any]) -> None:
    for word in words:
        assert any(_contains_any(claim, [word]) for claim in outcome.claims_that_are(supported=False)), word


def _not_in_claims(outcome: Outcome, words: list[str], _: dict[str, Any]) -> None:
    for word in words:
        assert not any(_contains_any(claim, [word]) for claim in outcome.claims), (word, outcome.claims)


def _all_claims(outcome: Outcome) -> list[str]:
    claims = list(outcome.claims)
    for item in outcome.run.items if outcome.run else ():
        for result in item.scorer_results.values():
            claims += [claim.text for claim in result.claims]
    return claims


def _no_claim_equals(outcome: Outcome, words: list[str], _: dict[str, Any]) -> None:
    for claim in _all_claims(outcome):
        assert claim.strip() not in words, claim


def _reason_contains_any(outcome: Outcome, words: list[str], _: dict[str, Any]) -> None:
    assert outcome.result is not None and _contains_any(outcome.result.reason, words), outcome.result


def _error_contains_any(outcome: Outcome, words: list[str], _: dict[str, Any]) -> None:
    assert outcome.error_text and _contains_any(outcome.error_text, words), outcome.error_text


def _error_contains_all(outcome: Outcome, words: list[str], _: dict[str, Any]) -> None:
    assert outcome.error_text, "no error"
    for word in words:
        assert _contains_any(outcome.error_text, [word]), (word, outcome.error_text)


def _error_is_not(outcome: Outcome, words: list[str], _: dict[str, Any]) -> None:
    assert not _contains_any(outcome.error_text, words), outcome.error_text


def _warning_contains_any(outcome: Outcome, words: list[str], _: dict[str, Any]) -> None:
    warnings = list(outcome.result.warnings) if outcome.result else []
    assert any(_contains_any(warning, words) for warning in warnings), warnings


def _judge_calls_max(outcome: Outcome, value: int, _: dict[str, Any]) -> None:
    assert outcome.calls <= value, outcome.calls


def _skipped(outcome: Outcome, value: bool, _: dict[str, Any]) -> None:
    assert outcome.skipped is value, outcome.result


def _finite_or_skipped(outcome: Outcome, _value: bool, _: dict[str, Any]) -> None:
    assert outcome.skipped or (outcome.score is not None and not outcome.holds_nan()), outcome.result


def _no_exception(outcome: Outcome, _value: bool, _: dict[str, Any]) -> None:
    assert outcome.error is None


def _no_control_characters(outcome: Outcome, _value: bool, _: dict[str, Any]) -> None:
    for claim in outcome.claims:
        assert not any(unicodedata.category(char) == "Cc" for char in claim), repr(claim)


def _language_of_claims(outcome: Outcome, value: str, _: dict[str, Any]) -> None:
    assert all(detect_language(claim).startswith(value) for claim in outcome.claims), outcome.claims


def _claims_stand_alone(outcome: Outcome, names: list[str], _: dict[str, Any]) -> None:
    for claim in outcome.claims:
        assert _contains_any(claim, names), claim


def _reason_agrees(outcome: Outcome, _value: bool, _: dict[str, Any]) -> None:
    assert outcome.result is not None
    supported, total = len(outcome.claims_that_are(supported=True)), len(outcome.claims)
    assert re.search(rf"\b{supported} of {total}\b", outcome.result.reason), outcome.result.reason
    missing = outcome.result.reason.partition("Missing:")[2]
    for claim in outcome.claims_that_are(supported=False):
        assert claim.rstrip(".") in missing, outcome.result.reason
    for claim in outcome.claims_that_are(supported=True):
        assert claim.rstrip(".") not in missing, outcome.result.reason


def _contexts_found(outcome: Outcome, value: int, _: dict[str, Any]) -> None:
    assert len(outcome.context or []) == value, outcome.context


def _contexts_found_min(outcome: Outcome, value: int, _: dict[str, Any]) -> None:
    assert len(outcome.context or []) >= value, outcome.context


def _contexts_count(outcome: Outcome, value: int | list[int], _: dict[str, Any]) -> None:
    count = len(outcome.context or [])
    assert value in (count, [count]), count


def _one_of(
    outcome: Outcome,
    alternatives: list[dict[str, Any]],
    expect: dict[str, Any],
    further: dict[str, Check] | None = None,
) -> None:
    failures: list[str] = []
    for alternative in alternatives:
        try:
            unknown = check({**{k: expect[k] for k in ("tolerance",) if k in expect}, **alternative}, outcome, further)
        except AssertionError as error:
            failures.append(f"{alternative}: {error}")
        else:
            if not unknown:
                return
            failures.append(f"{alternative}: unknown keys {unknown}")
    raise AssertionError("no alternative holds:\n" + "\n".join(failures))


NEVER: list[tuple[str, Callable[[Outcome, re.Match[str]], bool]]] = [
    (r"nan(?: in output file)?", lambda o, _: o.holds_nan() or "nan" in str(o.extra.get("output_file", "")).lower()),
    (r"score above (\d+(?:\.\d+)?)", lambda o, m: o.score is not None and o.score > float(m[1])),
    (r"score (?:of )?(\d+(?:\.\d+)?)", lambda o, m: o.score is not None and o.score == float(m[1])),
    (
        r"plausible score without any context",
        lambda o, _: o.result is not None and o.result.state == "scored" and o.score != 0,
    ),
    (
        r"(\w+) error shown on (\w+(?: or \w+)*)",
        lambda o, m: any(
            item.sample.id in m[2].split(" or ") and item.failed for item in (o.run.items if o.run else ())
        ),
    ),
]


def _never(outcome: Outcome, phrases: list[str], _: dict[str, Any]) -> None:
    for phrase in phrases:
        for pattern, happened in NEVER:
            if match := re.fullmatch(pattern, phrase.strip(), re.IGNORECASE):
                assert not happened(outcome, match), phrase


CHECKS: dict[str, Check] = {
    "attributed": _attributed,
    "claims": _claims,
    "claims_max": _claims_max,
    "claims_min": _claims_min,
    "claims_stand_alone": _claims_stand_alone,
    "contexts_count": _contexts_count,
    "contexts_found": _contexts_found,
    "contexts_found_min": _contexts_found_min,
    "error_contains_all": _error_contains_all,
    "error_contains_any": _error_contains_any,
    "error_is_not": _error_is_not,
    "finite_or_skipped": _finite_or_skipped,
    "judge_calls_max": _judge_calls_max,
    "language_of_claims": _language_of_claims,
    "never": _never,
    "no_claim_equals": _no_claim_equals,
    "no_control_chars_in_claims": _no_control_characters,
    "no_exception": _no_exception,
    "not_in_claims": _not_in_claims,
    "one_of": _one_of,
    "reason_agrees_with_verdicts": _reason_agrees,
    "reason_contains_any": _reason_contains_any,
    "score": _score,
    "score_exactly": _score_exactly,
    "score_max": _score_max,
    "score_min": _score_min,
    "skipped": _skipped,
    "supported_contains": _supported_contains,
    "unsupported_contains": _unsupported_contains,
    "warning_contains_any": _warning_contains_any,
}
"""What can be asserted of any outcome, by key. Kinds of cases add keys of their own."""


def check(expect: dict[str, Any], outcome: Outcome, further: dict[str, Check] | None = None) -> set[str]:
    """Asserts what is known and returns the keys (and "never" phrases) that are not."""
    checks = {**CHECKS, **(further or {})}
    unknown: set[str] = set()
    for key, value in expect.items():
        if key == "tolerance":
            continue
        if key not in checks:
            unknown.add(key)
            continue
        try:
            if key == "one_of":
                _one_of(outcome, value, expect, further)
            else:
                checks[key](outcome, value, expect)
        except UnknownKeyError as error:
            unknown.add(f"{key}: {error}")
    for phrase in expect.get("never", []):
        if not any(re.fullmatch(pattern, phrase.strip(), re.IGNORECASE) for pattern, _ in NEVER):
            unknown.add(f"never: {phrase}")
    return unknown
