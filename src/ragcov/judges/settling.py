"""Asking until every claim has exactly one readable verdict."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from ragcov.claims import Claim
from ragcov.errors import UnreadableReplyError
from ragcov.judges.replies import Answer, read_verdicts

__all__ = ["ASK_AGAIN", "RawReply", "settle", "unreadable"]

ASK_AGAIN = 2
"""How often claims without a readable verdict are asked about again."""


class RawReply(msgspec.Struct, frozen=True):
    """A reply as it came, and why the model stopped ("stop", "length", ...; None when not said)."""

    text: str
    finish_reason: str | None = None


AskAbout: TypeAlias = Callable[[Sequence[int]], Awaitable[RawReply]]


async def settle(claims: Sequence[Claim], ask: AskAbout, sources: Sequence[str]) -> list[Answer]:
    """One answer for each claim, asking again for those whose verdict is missing, doubled or unreadable.

    Args:
        claims: The claims.
        ask: Asks about the claims at some positions; in the reply they are numbered from 0 in that order.
        sources: The texts that the judge reads.

    Raises:
        UnreadableReplyError: Claims are left over after `ASK_AGAIN` further requests.
    """
    answers: dict[int, Answer] = {}
    pending = list(range(len(claims)))
    problems: dict[int, str] = {}
    reply = RawReply("")
    for _ in range(1 + ASK_AGAIN):
        reply = await ask(pending)
        reading = read_verdicts(reply.text, len(pending), sources)
        answers.update({pending[number]: answer for number, answer in reading.answers.items()})
        problems = {pending[number]: problem for number, problem in reading.problems.items()}
        pending = sorted(problems)
        if not pending:
            return [answers[index] for index in range(len(claims))]
    named = ", ".join(f"{claims[index].id or index + 1} ({problems[index]})" for index in pending[:10])
    more = f" and {len(pending) - 10} more" if len(pending) > 10 else ""
    raise unreadable(f"no readable verdict for {named}{more}", reply)


def unreadable(problem: str, reply: RawReply) -> UnreadableReplyError:
    """The error for replies that stay unreadable: what was wrong, how the last one began, what to do."""
    head = " ".join(reply.text.split())
    head = head if len(head) <= 200 else head[:199] + "…"
    return UnreadableReplyError(
        f"{problem}, asked {1 + ASK_AGAIN} times; the last reply "
        + (f"began {head!r}" if head else "was empty")
        + f" (finish reason: {reply.finish_reason or 'not said'})."
        " Try a model that follows JSON schemas, or fewer claims in a request (claims_per_batch)."
    )
