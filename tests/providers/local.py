"""The small model of this machine, for tests that talk to a real one."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from holdfast.config import home
from holdfast.providers.local_model import LocalModel, find, model_named


def local_model(context_length: int, **more: str) -> LocalModel:
    """Return the model, or skip the test where its files or its server are missing."""
    return LocalModel(local_file(), context_length=context_length, **more)  # type: ignore[arg-type] - a dialect


def local_file() -> Path:
    """Return the file of the model, or skip the test."""
    found = find(model_named("smollm2"), home(os.environ))
    if found is None or find_spec("xllamacpp") is None:
        pytest.skip("no local model here; install holdfast[local]")
    return found.files[0]
