"""A judge that runs a cross-encoder of the user's own: `"nli:PATH_OR_HUB_ID"` (extra `ragcov[nli]`)."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ragcov.attribution import Verdict, locate
from ragcov.claims import Claim
from ragcov.errors import ModelConfigError
from ragcov.judges.offline import OfflineJudge
from ragcov.judges.offline.reasons import say
from ragcov.judges.offline.segment import Span, sentences

__all__ = ["NliJudge"]

THRESHOLD = 0.5
"""The probability of support from which on a claim counts as supported."""

_BATCH = 32
_LONGEST = 512
_ENTAILS = ("entailment", "entail", "supported", "support", "supports", "consistent", "attributable", "yes")
_CONTRADICTS = ("contradiction", "contradict", "contradicts", "refuted", "refutes")
_INSTALL = "install it with: pip install 'ragcov[nli]'"

Logits: TypeAlias = Callable[[Sequence[tuple[str, str]]], Sequence[Sequence[float]]]


class _Labels(NamedTuple):
    """Where in the model's output support and contradiction stand; one output alone is a score of support."""

    width: int
    entails: int
    contradicts: int | None


class _Model(NamedTuple):
    logits: Logits
    tokens: Callable[[str], int]
    labels: _Labels
    longest: int


class NliJudge:
    """Asks a sequence-classification cross-encoder whether a chunk (premise) entails a claim (hypothesis).

    Claims are extracted as the offline judge does. A chunk longer than the model reads is cut into windows of
    whole sentences, and the best window counts.
    """

    def __init__(self, source: str) -> None:
        """Loads the model.

        Args:
            source: An ONNX file, a folder with `model.onnx` (or `onnx/model.onnx`), `tokenizer.json` and
                `config.json`, a folder that `transformers` can load, or the id of such a model on the hub.

        Raises:
            ModelConfigError: A missing file or extra, no network, or a model whose output is no NLI or
                two-way support head; the message names the way out.
        """
        self.id = f"nli:{source}"
        self._model = _load(source)
        self._offline = OfflineJudge()

    async def extract_claims(self, text: str, *, question: str | None = None) -> list[Claim]:
        """The claims of a text, by the offline judge's rules."""
        return await self._offline.extract_claims(text, question=question)

    async def attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        """One verdict a claim; a thread does the computing."""
        return await asyncio.to_thread(self._attribute, claims, chunks)

    def _attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        model = self._model
        room = model.longest - max((model.tokens(claim.text) for claim in claims), default=0)
        windows = [(i, span) for i, chunk in enumerate(chunks) for span in _windows(chunk, model, max(room, 32))]
        pairs = [(chunks[i][slice(*span)], claim.text) for claim in claims for i, span in windows]
        chances = _in_batches(model, pairs)
        return [
            _verdict(claim, chunks, windows, chances[n * len(windows) : (n + 1) * len(windows)])
            for n, claim in enumerate(claims)
        ]


def _windows(chunk: str, model: _Model, room: int) -> list[Span]:
    """Windows of whole sentences of at most `room` tokens; a longer sentence is a window, and cut by the model."""
    windows: list[Span] = []
    used = room + 1
    for start, end in sentences(chunk):
        size = model.tokens(chunk[start:end])
        if used + size <= room:
            windows[-1] = (windows[-1][0], end)
            used += size
        else:
            windows.append((start, end))
            used = size
    return windows


def _in_batches(model: _Model, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
    """Probability of support and of contradiction, by pair; pairs of like length share a batch."""
    chances: list[tuple[float, float]] = [(0.0, 0.0)] * len(pairs)
    order = sorted(range(len(pairs)), key=lambda n: len(pairs[n][0]) + len(pairs[n][1]))
    for first in range(0, len(order), _BATCH):
        batch = order[first : first + _BATCH]
        for n, row in zip(batch, model.logits([pairs[n] for n in batch]), strict=True):
            chances[n] = _chances(model.labels, row)
    return chances


def _chances(labels: _Labels, row: Sequence[float]) -> tuple[float, float]:
    if labels.width == 1:
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, row[0])))), 0.0
    top = max(row)
    parts = [math.exp(value - top) for value in row]
    against = parts[labels.contradicts] if labels.contradicts is not None else 0.0
    return parts[labels.entails] / sum(parts), against / sum(parts)


def _verdict(
    claim: Claim,
    chunks: Sequence[str],
    windows: Sequence[tuple[int, Span]],
    chances: Sequence[tuple[float, float]],
) -> Verdict:
    if not windows:
        return Verdict(claim=claim, supported=False, reason=say("no_chunks", claim.text), confidence=0.0)
    best: dict[int, int] = {}
    for n, (chunk, _) in enumerate(windows):
        if chunk not in best or chances[n][0] > chances[best[chunk]][0]:
            best[chunk] = n
    confidence = max(support for support, _ in chances)
    support = [n for n in best.values() if chances[n][0] >= THRESHOLD]
    against = max(range(len(windows)), key=lambda n: chances[n][1])
    contradicted = not support and chances[against][1] >= THRESHOLD
    shown = support or ([against] if contradicted else [max(best.values(), key=lambda n: chances[n][0])])
    evidence = tuple(locate(chunks, windows[n][0], *windows[n][1]) for n in shown)
    names = ", ".join(str(windows[n][0]) for n in shown)
    if support:
        reason = say("supported", claim.text, chunks=names)
    elif contradicted:
        reason = say("contradicted", claim.text, chunks=names, quote=evidence[0].quote)
    else:
        reason = say("nothing", claim.text)
    return Verdict(
        claim=claim,
        supported=bool(support),
        contradicted=contradicted,
        evidence=evidence,
        reason=reason,
        confidence=confidence,
    )


def _load(source: str) -> _Model:
    path = Path(source).expanduser()
    if path.is_file():
        return _onnx(path, path.parent)
    if not path.is_dir():
        path = _download(source)
    for name in ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"):
        if (path / name).is_file():
            return _onnx(path / name, path)
    if any(path.glob("*.safetensors")) or (path / "pytorch_model.bin").is_file():
        return _transformers(path)
    raise ModelConfigError(
        f"nli: no model.onnx, onnx/model.onnx or *.safetensors in {path}; export the model with"
        " `optimum-cli export onnx --task text-classification`, or give the ONNX file itself"
    )


def _download(source: str) -> Path:
    """A model of the hub; only the files that are needed."""
    if source.startswith((".", "/", "~")) or source.count("/") != 1 or source.endswith(".onnx"):
        raise ModelConfigError(f"nli: no such file or folder: {source} (a hub id looks like owner/name)")
    try:
        import huggingface_hub
    except ImportError as error:
        raise ModelConfigError(f"nli: {source} is no local path, and the hub needs an extra; {_INSTALL}") from error
    wanted = ["*.json", "*.safetensors", "*.txt", "*.model", "model.onnx", "onnx/model.onnx"]
    try:
        hub: Any = huggingface_hub
        return Path(hub.snapshot_download(source, allow_patterns=wanted))
    # What the hub's client raises for network, cache and ids are OSErrors and ValueErrors.
    except (OSError, ValueError) as error:
        raise ModelConfigError(
            f"nli: could not download {source} from the hub ({error}); without network, download it elsewhere"
            " and give its folder: nli:/path/to/folder"
        ) from error


def _config(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    if not file.is_file() and folder.name == "onnx":
        file = folder.parent / "config.json"
    if not file.is_file():
        raise ModelConfigError(f"nli: {folder} has no config.json, which names the labels (id2label)")
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelConfigError(f"nli: {file} is no JSON: {error}") from error


def _labels(config: dict[str, Any], folder: Path) -> _Labels:
    named: dict[str, str] = config.get("id2label") or {}
    names = [str(named[key]).lower().replace("_", " ") for key in sorted(named, key=int)]
    if len(names) == 1 or (not names and config.get("num_labels") == 1):
        return _Labels(1, 0, None)
    entails = [i for i, name in enumerate(names) if name in _ENTAILS]
    contradicts = [i for i, name in enumerate(names) if name in _CONTRADICTS]
    if len(entails) != 1 or len(names) > 3:
        raise ModelConfigError(
            f"nli: {folder} is no NLI or two-way support model: its labels are {names or 'unnamed'}; one of them"
            ' must be "entailment" or "supported" (set id2label in config.json when they are only unnamed)'
        )
    return _Labels(len(names), entails[0], contradicts[0] if contradicts else None)


def _tokenizer(folder: Path, longest: int) -> Any:
    try:
        import tokenizers
    except ImportError as error:
        raise ModelConfigError(f"nli: the tokenizers package is missing; {_INSTALL}") from error
    file = folder / "tokenizer.json"
    if not file.is_file() and folder.name == "onnx":
        file = folder.parent / "tokenizer.json"
    if not file.is_file():
        raise ModelConfigError(f"nli: {folder} has no tokenizer.json; save the model's fast tokenizer there")
    tokenizer: Any = tokenizers.Tokenizer.from_file(str(file))
    tokenizer.enable_truncation(longest, strategy="longest_first")
    return tokenizer


def _onnx(file: Path, folder: Path) -> _Model:
    try:
        import numpy
        import onnxruntime
    except ImportError as error:
        raise ModelConfigError(f"nli: onnxruntime is missing; {_INSTALL}") from error
    config = _config(folder)
    labels = _labels(config, folder)
    longest = min(int(config.get("max_position_embeddings") or _LONGEST), _LONGEST)
    pairs_of, counter = _tokenizer(folder, longest), _tokenizer(folder, longest)
    pairs_of.enable_padding(pad_id=int(config.get("pad_token_id") or 0))
    counter.no_truncation()
    try:
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ModelConfigError(f"nli: {file} is no ONNX model that can be run: {error}") from error
    inputs = {item.name for item in session.get_inputs()}

    def logits(pairs: Sequence[tuple[str, str]]) -> Sequence[Sequence[float]]:
        encoded = pairs_of.encode_batch(list(pairs))
        arrays = {
            "input_ids": numpy.array([item.ids for item in encoded], dtype=numpy.int64),
            "attention_mask": numpy.array([item.attention_mask for item in encoded], dtype=numpy.int64),
            "token_type_ids": numpy.array([item.type_ids for item in encoded], dtype=numpy.int64),
        }
        return session.run(None, {name: array for name, array in arrays.items() if name in inputs})[0].tolist()

    def tokens(text: str) -> int:
        return len(counter.encode(text).ids)

    model = _Model(logits, tokens, labels, longest)
    _check_head(model, str(file))
    return model


def _transformers(folder: Path) -> _Model:
    try:
        import torch  # pyright: ignore[reportMissingImports]
        import transformers  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ModelConfigError(
            f"nli: {folder} holds no ONNX model, and transformers with torch is not installed; install both, or"
            " export the model to ONNX: optimum-cli export onnx --task text-classification"
        ) from error
    return _from_transformers(folder, torch, transformers)


def _from_transformers(folder: Path, torch: Any, transformers: Any) -> _Model:
    config = _config(folder)
    labels = _labels(config, folder)
    longest = min(int(config.get("max_position_embeddings") or _LONGEST), _LONGEST)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()

    def logits(pairs: Sequence[tuple[str, str]]) -> Sequence[Sequence[float]]:
        premises, claims = zip(*pairs, strict=True)
        batch = tokenizer(
            list(premises), list(claims), padding=True, truncation=True, max_length=longest, return_tensors="pt"
        )
        with torch.no_grad():
            return network(**batch).logits.tolist()

    def tokens(text: str) -> int:
        return len(tokenizer(text)["input_ids"])

    model = _Model(logits, tokens, labels, longest)
    _check_head(model, str(folder))
    return model


def _check_head(model: _Model, where: str) -> None:
    (row,) = model.logits([("a", "a")])
    width = len(row) if isinstance(row, list) and all(isinstance(value, float) for value in row) else None
    if width != model.labels.width:
        raise ModelConfigError(
            f"nli: {where} gives {width or 'no'} scores a pair where its config names {model.labels.width} labels;"
            " a sequence-classification head is needed"
        )
