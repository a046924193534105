"""Claims of a text against the chunks: the steps that recall, precision, relevance and faithfulness share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragcov.attribution import Verdict, join_verdicts
from ragcov.claims import Claim
from ragcov.language import Language, detect_language
from ragcov.messages import input_text, output_text
from ragcov.results import Tally
from ragcov.samples import clean_text
from ragcov.scorers.base import Run, StepInput, not_scorable
from ragcov.scorers.context import usable
from ragcov.scorers.reasons import Phrases, phrases

__all__ = [
    "EXPECTED",
    "GROUND_TRUTH",
    "OUTPUT",
    "Direction",
    "attribute_claims",
    "extract_claims",
    "need_chunks",
    "need_text",
    "question_of",
    "tally_verdicts",
]


@dataclass(frozen=True)
class Direction:
    """Which text's claims are looked for in the chunks; all else is the same for every measure.

    Attributes:
        what: The text's name, for warnings and reasons.
        text: Finds it in a run; blank when there is none.
        absent: The reason when there is none.
    """

    what: str
    text: Callable[[Run], str]
    absent: Callable[[Phrases], str]

    def language(self, run: Run) -> Language:
        """The language of the text, or of the question when there is no text."""
        return detect_language(self.text(run) or input_text(run.input))


def _expected(run: Run) -> str:
    return run.ground_truth if run.ground_truth and run.ground_truth.strip() else output_text(run.output)


GROUND_TRUTH = Direction("ground truth", lambda run: run.ground_truth or "", lambda words: words.no_ground_truth)
OUTPUT = Direction("output", lambda run: output_text(run.output), lambda words: words.no_output)
EXPECTED = Direction("expected output", _expected, lambda words: words.no_expected)
"""The text that retrieval should make possible: the ground truth when there is one, else the output."""


def question_of(run: Run) -> str | None:
    """The question as text; None when there is none."""
    return clean_text(input_text(run.input)) or None


def need_text(step: StepInput, direction: Direction) -> str:
    """The text whose claims are looked for; ends the pipeline as not scorable when it is blank."""
    text = direction.text(step.run)
    if not text.strip():
        reason = direction.absent(phrases(direction.language(step.run)))
        not_scorable(reason, warning=f"no {direction.what}: the row is left out of the mean")
    return clean_text(text)


def need_chunks(step: StepInput, language: Language, *, filled: bool = False) -> Sequence[str]:
    """The chunks; ends the pipeline as not scorable when the run has none.

    Args:
        step: The step's input.
        language: Of the reason.
        filled: Whether a retrieval that brought nothing (no chunk, or blank ones only) ends it, too.
    """
    chunks = step.run.context
    if chunks is None:
        not_scorable(phrases(language).no_context, warning="no context: the row is left out of the mean")
    if filled and not usable(chunks):
        not_scorable(phrases(language).no_chunks, warning="nothing was retrieved: the row is left out of the mean")
    return chunks


async def extract_claims(step: StepInput, direction: Direction) -> list[Claim]:
    """The claims of the direction's text; not scorable when it states none."""
    text = need_text(step, direction)
    claims = await step.need_judge().extract_claims(text, question=question_of(step.run))
    if not claims:
        not_scorable(
            phrases(direction.language(step.run)).no_claims.format(what=direction.what),
            warning=f"the {direction.what} states no claim: the row is left out of the mean",
        )
    return claims


async def attribute_claims(step: StepInput, claims: Sequence[Claim]) -> list[Verdict]:
    """One verdict for each claim against all chunks of the run.

    Raises:
        UnreadableReplyError: When the judge gave fewer verdicts, more, or some for other claims.
    """
    if not claims:
        return []
    return join_verdicts(claims, await step.need_judge().attribute(claims, step.run.context or []))


def tally_verdicts(verdicts: Sequence[Verdict]) -> Tally:
    """How many of the claims are supported: contradicted and unsure ones are not."""
    return Tally(sum(verdict.supported for verdict in verdicts), len(verdicts))
