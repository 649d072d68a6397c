"""The sentence model in numpy: what is alike is near, and company changes nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from holdfast.errors import MemoryUnavailable, MissingExtra
from holdfast.memory_providers.embedding import WIDTH, Embedder
from holdfast.providers.local_model import MODELS, find
from tests.memory_providers.minilm import FOLDER, embedder, needs_minilm

SENTENCES = [
    "A man is eating food.",
    "A man is eating a piece of bread.",
    "The girl is carrying a baby.",
    "A man is riding a horse.",
    "A woman is playing violin.",
]


@needs_minilm
def test_sentences_of_one_meaning_are_near_and_others_are_far() -> None:
    rows = embedder().embed(SENTENCES)
    cosines = rows @ rows[0]
    assert cosines[0] == pytest.approx(1.0, abs=1e-5)
    assert cosines[1] > 0.7
    assert cosines[2:].max() < 0.3


@needs_minilm
def test_the_cosines_are_those_that_the_reference_publishes() -> None:
    # From the usage page of Sentence Transformers, which computes them with torch.
    rows = embedder().embed(
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    )
    published = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    assert np.abs(rows @ rows.T - np.array(published)).max() < 1e-4


@needs_minilm
def test_a_question_is_nearer_to_its_answer_than_to_anything_else() -> None:
    answers = [
        "The staging database listens on port 5433.",
        "My sister's birthday is on the third of May.",
        "We deploy on Tuesdays, never on Fridays.",
    ]
    questions = [
        "Which port does the database use in staging?",
        "When was my sister born?",
        "On which day of the week do releases go out?",
    ]
    likeness = embedder().embed(questions) @ embedder().embed(answers).T
    assert likeness.argmax(1).tolist() == [0, 1, 2]


@needs_minilm
def test_a_text_has_the_same_vector_alone_and_in_company() -> None:
    texts = [*SENTENCES, "", "word " * 400, "短い文です。", "a\x00b", *map(str, range(20))]
    together = embedder().embed(texts)
    alone = np.concatenate([embedder().embed([text]) for text in texts])
    assert together.shape == (len(texts), WIDTH)
    assert together.dtype == np.float32
    assert np.abs(together - alone).max() < 1e-5
    assert np.abs(np.linalg.norm(together, axis=1) - 1.0).max() < 1e-5


@needs_minilm
def test_no_text_is_no_row() -> None:
    assert embedder().embed([]).shape == (0, WIDTH)


def test_nothing_heavy_is_imported_before_the_first_text() -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from holdfast.memory_providers.embedding import Embedder;"
        "Embedder(Path('x'));"
        "print(sorted({'numpy', 'tokenizers', 'safetensors'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("damaged", ["model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe nothing of the kind"])
@needs_minilm
def test_a_damaged_file_is_a_sentence(tmp_path: Path, damaged: str, content: bytes) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        if name == damaged:
            (tmp_path / name).write_bytes(content)
        else:
            os.symlink(FOLDER / name, tmp_path / name)
    with pytest.raises(MemoryUnavailable, match=r"^the (model|tokenizer) in .* cannot be read: "):
        Embedder(tmp_path).embed(["a"])


def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MemoryUnavailable, match="cannot be read"):
        Embedder(tmp_path).embed(["a"])


@needs_minilm
def test_another_model_is_told_from_this_one(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    shutil.copy(FOLDER / "tokenizer.json", tmp_path)
    save_file({"other": np.zeros(3, dtype=np.float32)}, tmp_path / "model.safetensors")
    with pytest.raises(MemoryUnavailable, match="is not all-MiniLM-L6-v2"):
        Embedder(tmp_path).embed(["a"])


@pytest.mark.parametrize("package", ["numpy", "safetensors", "tokenizers"])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[vectors\]'"):
        Embedder(Path("x"))


@needs_minilm
def test_the_model_of_these_tests_is_the_pinned_one(tmp_path: Path) -> None:
    found = find(MODELS["minilm"], tmp_path)
    assert found is not None
    assert found.folder == FOLDER
