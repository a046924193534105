"""Labels of people beside a run's verdicts: can the judge be trusted?"""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from ragcov.attribution import Verdict
from ragcov.errors import DataError, StoreError, UsageError
from ragcov.reports.judging import Estimate, Labelled, accuracy, corrected_mean, kappa, precision, recall
from ragcov.results import ItemResult, Mean, mean_of, round_score
from ragcov.samples import clean_text
from ragcov.samples.formats import rows_of

__all__ = ["Agreement", "Disagreement", "Label", "agree", "read_labels", "write_labels"]

RECALL = "context-recall-scorer"
COLUMNS = ("id", "claim_id", "claim", "group", "label")
_YES = frozenset({"true", "yes", "y", "1", "supported"})
_NO = frozenset({"false", "no", "n", "0", "unsupported", "not supported", "contradicted"})
_OPEN = frozenset({"", "s", "skip", "?"})


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a labels file.

    Attributes:
        id: The sample.
        claim_id: The claim's id in the run; empty when the file names claims by their text.
        claim: The claim's text.
        group: Why it is asked about; labels are a chance draw within a group, not between groups.
        label: Whether the retrieved chunks support the claim; None when that is still to be answered.
    """

    id: str
    claim_id: str = ""
    claim: str = ""
    group: str = ""
    label: bool | None = None


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A claim on which judge and label differ.

    Attributes:
        sample_id: The sample.
        verdict: What the judge decided; the label is the opposite.
    """

    sample_id: str
    verdict: Verdict


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How a run's judge agrees with labels.

    Attributes:
        judges: The run's judges.
        claims: How many claims the run judged, in its scored samples.
        samples: In how many samples.
        accuracy: Share of verdicts that agree.
        precision: Share of the supported verdicts that are right.
        recall: Share of the truly supported claims that the judge found.
        kappa: Cohen's kappa.
        run_recall: The run's mean recall as the judge alone gives it, over these samples.
        corrected: The same, corrected by the labels.
        disagreements: In the order of the run.
        unmatched: Labels of claims that the run does not have, as "sample: claim".
    """

    judges: tuple[str, ...]
    claims: int
    samples: int
    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    kappa: Estimate
    run_recall: Mean
    corrected: Estimate
    disagreements: tuple[Disagreement, ...]
    unmatched: tuple[str, ...]


def agree(items: Iterable[ItemResult], labels: Sequence[Label]) -> Agreement:
    """Compares verdicts with labels, joined by sample id and claim id, or else the claim's text.

    Estimates are for all claims of the run: a label stands for those of its group that nobody was asked about.

    Raises:
        UsageError: The run has no context recall, or no label fits it.
    """
    by_id = {(label.id, label.claim_id): label for label in labels if label.claim_id}
    by_text = {(label.id, _words(label.claim)): label for label in labels if label.claim}
    used: set[int] = set()
    verdicts: list[Labelled] = []
    disagreements: list[Disagreement] = []
    shares: list[float] = []
    judges: dict[str, None] = {}
    for item in items:
        result = item.scorer_results.get(RECALL)
        if result is None or not result.scored or not result.verdicts:
            continue
        judges[result.judge or "unknown"] = None
        shares.append(round_score(sum(verdict.supported for verdict in result.verdicts) / len(result.verdicts)))
        for verdict in result.verdicts:
            label = _label_of(item.sample.id, verdict, by_id, by_text)
            used.add(id(label))
            said = None if label is None else label.label
            group = "" if label is None else label.group
            verdicts.append(Labelled(cluster=item.sample.id, judged=verdict.supported, label=said, group=group))
            if said is not None and said != verdict.supported:
                disagreements.append(Disagreement(sample_id=item.sample.id, verdict=verdict))
    if not verdicts:
        raise UsageError(f"the run has no verdicts of {RECALL}: run it with context-recall")
    if not any(verdict.label is not None for verdict in verdicts):
        raise UsageError("no label fits a claim of the run: they are joined by sample id and claim id, or claim text")
    return Agreement(
        judges=tuple(judges),
        claims=len(verdicts),
        samples=len(shares),
        accuracy=accuracy(verdicts),
        precision=precision(verdicts),
        recall=recall(verdicts),
        kappa=kappa(verdicts),
        run_recall=mean_of(shares, low=0, high=1),
        corrected=corrected_mean(verdicts),
        disagreements=tuple(disagreements),
        unmatched=tuple(
            f"{label.id}: {label.claim or label.claim_id}"
            for label in labels
            if id(label) not in used and label.label is not None
        ),
    )


def _label_of(
    sample_id: str, verdict: Verdict, by_id: dict[tuple[str, str], Label], by_text: dict[tuple[str, str], Label]
) -> Label | None:
    """A label with a text that is not the claim's is of another extraction of claims, whatever its id says."""
    words = _words(verdict.claim.text)
    label = by_id.get((sample_id, verdict.claim.id))
    if label is not None and (not label.claim or _words(label.claim) == words):
        return label
    return by_text.get((sample_id, words))


def _words(text: str) -> str:
    return " ".join(text.split())


def read_labels(path: str | Path) -> list[Label]:
    """Reads labels from a file of any format that datasets have, by its ending: CSV, JSONL and others.

    Fields: id (the sample), claim_id or claim (the text) or both, label (true/false, yes/no, y/n, 1/0; empty when
    open), and group where labels were not drawn by chance alone.

    Raises:
        UsageError: When the file is missing or its format unknown.
        DataError: When a line can't be read; names file, line and field.
    """
    path = Path(path)
    labels: list[Label] = []
    places: dict[tuple[str, str, str], int] = {}
    for number, row in enumerate(rows_of(path), 1):
        line = row.line or number
        if isinstance(row.record, DataError):
            raise row.record
        record: Any = row.record
        if not isinstance(record, dict):
            raise DataError('expected an object {"id", "claim_id", "label"}', file=str(path), line=line)
        label = _label(cast("dict[str, Any]", record), str(path), line)
        before = places.setdefault((label.id, label.claim_id, _words(label.claim)), line)
        if before != line:
            raise DataError(f"this claim was labelled before, in line {before}", file=str(path), line=line)
        labels.append(label)
    return labels


def _label(record: dict[str, Any], file: str, line: int) -> Label:
    texts: dict[str, str] = {}
    for field in COLUMNS[:-1]:
        value = record.get(field)
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            raise DataError("expected text", file=file, line=line, field=field)
        texts[field] = "" if value is None else clean_text(str(value))
    if not texts["id"]:
        raise DataError("expected the sample's id", file=file, line=line, field="id")
    if not texts["claim_id"] and not texts["claim"]:
        raise DataError(
            "expected the claim's id, or its text in the field claim", file=file, line=line, field="claim_id"
        )
    return Label(**texts, label=_answer(record.get("label"), file, line))


def _answer(value: Any, file: str, line: int) -> bool | None:
    word = "" if value is None else str(value).strip().lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    if word in _OPEN:
        return None
    raise DataError(f"expected yes or no (or nothing, when open), got {value!r}", file=file, line=line, field="label")


def write_labels(path: str | Path, labels: Iterable[Label]) -> None:
    """Writes labels, CSV or JSONL by the file's ending, all or nothing: a crash leaves the file as it was.

    Raises:
        UsageError: When the ending is neither .csv nor .jsonl.
        StoreError: When it can't be written.
    """
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise UsageError(f"{path}: labels are written as .csv or .jsonl; give the file such an ending")
    data = _csv(labels) if path.suffix.lower() == ".csv" else _jsonl(labels)
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            made = Path(file.name)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            made.replace(path)
        except OSError:
            made.unlink()
            raise
    except OSError as error:
        raise StoreError(f"{path} can't be written: {error.strerror or error}") from error


def _csv(labels: Iterable[Label]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for label in labels:
        writer.writerow([label.id, label.claim_id, label.claim, label.group, _written(label.label)])
    return ("\ufeff" + text.getvalue()).encode()


def _written(label: bool | None) -> str:
    return "" if label is None else ("yes" if label else "no")


def _jsonl(labels: Iterable[Label]) -> bytes:
    return b"".join(msgspec.json.encode(label) + b"\n" for label in labels)
