import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import tokenizers
from onnx import TensorProto, helper, numpy_helper

from ragcov import Claim, load_judge
from ragcov.errors import ModelConfigError
from ragcov.judges.nli import NliJudge

WORDS = ["[PAD]", "[UNK]", "harn", "has", "a", "castle", "no", "dogs", "travel", "free", ".", "does", "not"]


def make(folder: Path, *, labels: list[str], outputs: int | None = None, seed: int = 0, onnx_file: bool = True) -> Path:
    """A tiny model with random weights: the mean of word vectors, then one layer."""
    outputs = outputs or len(labels)
    random = np.random.default_rng(seed)
    weights = {
        "vectors": random.normal(size=(len(WORDS), 8)).astype(np.float32),
        "layer": random.normal(size=(8, outputs)).astype(np.float32),
    }
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["vectors", "input_ids"], ["words"]),
            helper.make_node("ReduceMean", ["words"], ["mean"], axes=[1], keepdims=0),
            helper.make_node("MatMul", ["mean", "layer"], ["logits"]),
        ],
        "tiny",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", outputs])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    folder.mkdir(exist_ok=True)
    if onnx_file:
        onnx.save(model, str(folder / "model.onnx"))
    words = tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"id2label": {str(i): label for i, label in enumerate(labels)}, "max_position_embeddings": 24}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


NLI = ["contradiction", "entailment", "neutral"]
CLAIMS = [Claim("Harn has a castle."), Claim("Dogs travel free.")]
CHUNKS = ["Harn has a castle. " * 20, "", "Dogs travel free. Harn has no castle."]


@pytest.mark.parametrize("labels", [NLI, ["ENTAILMENT", "NOT_ENTAILMENT"], ["score"]])
async def test_a_model_of_any_head_judges(tmp_path: Path, labels: list[str]):
    judge = load_judge(f"nli:{make(tmp_path / 'm', labels=labels)}")
    assert judge.id.startswith("nli:")
    assert [claim.text for claim in await judge.extract_claims("Harn has a castle. Dogs travel free.")] == [
        claim.text for claim in CLAIMS
    ]
    verdicts = await judge.attribute(CLAIMS, CHUNKS)
    assert [verdict.claim for verdict in verdicts] == CLAIMS
    for verdict in verdicts:
        assert verdict.confidence is not None
        assert verdict.supported == (verdict.confidence >= 0.5)
        assert verdict.reason
        for evidence in verdict.evidence:
            assert evidence.quote == CHUNKS[evidence.chunk][slice(*evidence.span)]
    assert verdicts == await judge.attribute(CLAIMS, CHUNKS)


async def test_verdicts_follow_the_label_order_of_the_config(tmp_path: Path):
    seen: set[str] = set()
    for seed in range(12):
        judge = NliJudge(str(make(tmp_path / f"m{seed}", labels=NLI, seed=seed)))
        swapped = NliJudge(
            str(make(tmp_path / f"s{seed}", labels=["entailment", "contradiction", "neutral"], seed=seed))
        )
        (one,), (other,) = (
            await judge.attribute(CLAIMS[:1], CHUNKS[2:]),
            await swapped.attribute(CLAIMS[:1], CHUNKS[2:]),
        )
        assert one.supported == other.contradicted
        assert one.contradicted == other.supported
        seen.add("supported" if one.supported else "contradicted" if one.contradicted else "neither")
    assert seen == {"supported", "contradicted", "neither"}


async def test_batches_do_not_change_verdicts(tmp_path: Path):
    judge = NliJudge(str(make(tmp_path / "m", labels=NLI)))
    chunk = "Harn has a castle."
    many = await judge.attribute(CLAIMS[:1] * 40, [chunk])
    (one,) = await judge.attribute(CLAIMS[:1], [chunk])
    assert {round(verdict.confidence or 0, 6) for verdict in many} == {round(one.confidence or 0, 6)}


async def test_no_chunks(tmp_path: Path):
    (verdict,) = await NliJudge(str(make(tmp_path / "m", labels=NLI))).attribute(CLAIMS[:1], [])
    assert (verdict.supported, verdict.confidence) == (False, 0.0)


def test_the_onnx_file_itself_can_be_given(tmp_path: Path):
    assert NliJudge(str(make(tmp_path / "m", labels=NLI) / "model.onnx"))


def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(ModelConfigError, match=r"no such file or folder: .*nowhere"):
        NliJudge(str(tmp_path / "nowhere"))


def test_a_folder_without_model(tmp_path: Path):
    with pytest.raises(ModelConfigError, match="optimum-cli"):
        NliJudge(str(make(tmp_path / "m", labels=NLI, onnx_file=False)))


def test_a_folder_for_transformers_without_transformers(tmp_path: Path):
    folder = make(tmp_path / "m", labels=NLI, onnx_file=False)
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelConfigError, match="transformers with torch is not installed"):
        NliJudge(str(folder))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str):
    folder = make(tmp_path / "m", labels=NLI)
    (folder / name).unlink()
    with pytest.raises(ModelConfigError, match=name):
        NliJudge(str(folder))


def test_a_config_that_is_no_json(tmp_path: Path):
    folder = make(tmp_path / "m", labels=NLI)
    (folder / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelConfigError, match="no JSON"):
        NliJudge(str(folder))


@pytest.mark.parametrize("labels", [["LABEL_0", "LABEL_1"], ["positive", "negative"], list("abcde")])
def test_a_wrong_head_names_its_labels(tmp_path: Path, labels: list[str]):
    with pytest.raises(ModelConfigError, match="id2label"):
        NliJudge(str(make(tmp_path / "m", labels=labels)))


def test_a_head_of_another_width(tmp_path: Path):
    with pytest.raises(ModelConfigError, match="5 scores a pair where its config names 3"):
        NliJudge(str(make(tmp_path / "m", labels=NLI, outputs=5)))


def test_a_file_that_is_no_model(tmp_path: Path):
    folder = make(tmp_path / "m", labels=NLI)
    (folder / "model.onnx").write_bytes(b"nonsense")
    with pytest.raises(ModelConfigError, match="no ONNX model"):
        NliJudge(str(folder))


def test_no_network(monkeypatch: pytest.MonkeyPatch):
    # Port 9 of the loopback answers nobody.
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelConfigError, match="without network, download it elsewhere"):
        NliJudge("tarn/no-such-model")
