"""Makes `data/commonness_en.txt` and `data/related_en.txt`, the word tables of the offline judge.

    python bench/tables/english_words.py --texts train_pairs.jsonl.gz --wordnet dict/ --model model.onnx \
        --tokenizer tokenizer.json --out src/ragcov/data

`--texts` are JSON lines with "claim" and "chunks", whose words are counted. `--wordnet` holds the database files
of Princeton WordNet 3.1; `--model` and `--tokenizer` are all-MiniLM-L6-v2, which tells near synonyms from senses
that hardly anybody means. Needs numpy, onnxruntime and tokenizers beside ragcov. No random numbers.
"""

import argparse
import collections
import gzip
import json
import math
import pathlib
import re

import numpy as np
import onnxruntime
import tokenizers

from ragcov.judges.offline.words import STOP, plain_form, stem

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
SUFFIX = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
SENSES = {"noun": 3, "verb": 4, "adj": 3, "adv": 2}


def counted(path):
    """Document frequency by stem, and how often each surface form occurs."""
    frequency, surface, texts, seen = collections.Counter(), collections.Counter(), 0, set()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            for text in (row["claim"], *row["chunks"]):
                if text in seen:
                    continue
                seen.add(text)
                texts += 1
                words = {
                    plain_form(word).replace("’", "'").removesuffix("'s").replace("'", "")
                    for word in WORD.findall(text)
                }
                words = {word for word in words if word and word not in STOP}
                surface.update(words)
                frequency.update({stem(word) for word in words})
    return frequency, surface, texts


def write_commonness(frequency, texts, out):
    """One line a level, from words in few texts (level 0, left empty: the default) to words in most."""
    levels = [[] for _ in range(7)]
    for form, count in frequency.items():
        if count >= 4:
            rarity = math.log(texts / count) / math.log(texts / 4)
            levels[min(6, int((1 - rarity) * 9.6))].append(form)
    levels[0] = []
    out.write_text("\n".join(" ".join(sorted(level)) for level in levels) + "\n", encoding="utf-8")


def read_wordnet(folder):
    synsets, senses = {}, {}
    for pos in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{pos}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            parts = line.split(" | ")[0].split()
            count = int(parts[3], 16)
            words = [parts[4 + 2 * i].lower().split("(")[0] for i in range(count)]
            at = 4 + 2 * count
            pointers = [
                (parts[at + 1 + 4 * i], SUFFIX[parts[at + 3 + 4 * i]], parts[at + 2 + 4 * i], parts[at + 4 + 4 * i])
                for i in range(int(parts[at]))
            ]
            synsets[pos, parts[0]] = (words, pointers)
        for line in (folder / f"index.{pos}").read_text(encoding="utf-8").splitlines():
            if not line.startswith("  "):
                parts = line.split()
                senses[pos, parts[0]] = parts[-int(parts[2]) :]
    return synsets, senses


def relations(word, synsets, senses):
    """(kind, other word): s synonym, h a narrower word that bears this one out, d derived, a antonym."""
    for pos in ("noun", "verb", "adj", "adv"):
        for offset in senses.get((pos, word), ())[: SENSES[pos]]:
            words, pointers = synsets[pos, offset]
            yield from (("s", other) for other in words if other != word)
            for symbol, other_pos, other_offset, ends in pointers:
                others, further = synsets[other_pos, other_offset]
                source, target = int(ends[:2], 16), int(ends[2:], 16)
                if symbol == "!" and words[source - 1] == word:
                    yield "a", others[target - 1]
                elif symbol == "+" and words[source - 1] == word:
                    yield "d", others[target - 1]
                elif symbol == "&":
                    yield from (("s", other) for other in others)
                    for mark, third_pos, third_offset, third_ends in further:
                        if mark == "!":
                            yield "a", synsets[third_pos, third_offset][0][int(third_ends[2:], 16) - 1]
                elif symbol in ("~", "~i"):
                    yield from (("h", other) for other in others)
                    for mark, third_pos, third_offset, _ in further:
                        if mark == "~" and pos == "noun":
                            yield from (("h", other) for other in synsets[third_pos, third_offset][0])


class Similarity:
    """Cosine of two words as all-MiniLM-L6-v2 sees them alone."""

    def __init__(self, model, tokenizer, words):
        session = onnxruntime.InferenceSession(model)
        reader = tokenizers.Tokenizer.from_file(tokenizer)
        reader.enable_padding()
        self.index = {word: i for i, word in enumerate(words)}
        vectors = []
        for first in range(0, len(words), 256):
            batch = reader.encode_batch([word.replace("_", " ") for word in words[first : first + 256]])
            ids = np.array([item.ids for item in batch])
            mask = np.array([item.attention_mask for item in batch])
            hidden = session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": 0 * ids})[0]
            pooled = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            vectors.append(pooled / np.linalg.norm(pooled, axis=1, keepdims=True))
        self.vectors = np.concatenate(vectors)

    def __call__(self, a, b):
        return float(self.vectors[self.index[a]] @ self.vectors[self.index[b]])


def main():
    options = argparse.ArgumentParser()
    for name in ("texts", "wordnet", "model", "tokenizer", "out"):
        options.add_argument("--" + name, required=True)
    options = options.parse_args()
    out = pathlib.Path(options.out)
    frequency, surface, texts = counted(options.texts)
    write_commonness(frequency, texts, out / "commonness_en.txt")
    synsets, senses = read_wordnet(pathlib.Path(options.wordnet))
    known = {word for _, word in senses}
    vocabulary = sorted(w for w, n in surface.items() if n >= 3 and w.isascii() and w in known and len(w) > 2)
    similar = Similarity(options.model, options.tokenizer, vocabulary)
    kept = collections.defaultdict(dict)
    for word in vocabulary:
        for kind, other in relations(word, synsets, senses):
            if other not in similar.index or stem(other) == stem(word):
                continue
            cosine = similar(word, other)
            score = {"s": 0.45 + 0.5 * cosine, "d": 0.9, "h": 0.2 + 0.75 * cosine, "a": 1.0}[kind]
            # Below 0.65 a word is related at best ("leave" and "go out"), which bears nothing out.
            if score < 0.65 or (kind == "d" and cosine < 0.3):
                continue
            entry = ("!" if kind == "a" else "", min(9, round(10 * score)))
            old = kept[stem(word)].get(stem(other))
            if old is None or (entry[0] and not old[0]) or (entry[0] == old[0] and entry[1] > old[1]):
                kept[stem(word)][stem(other)] = entry
    lines = []
    for form in sorted(kept):
        best = sorted(kept[form].items(), key=lambda item: (item[1][0] == "", -item[1][1], item[0]))[:40]
        lines.append(" ".join([form, *(f"{mark}{other}{digit}" for other, (mark, digit) in best)]))
    (out / "related_en.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(len(lines), "words")


if __name__ == "__main__":
    main()
