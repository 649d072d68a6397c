"""The checks of `doctor` on what stands around a conversation: engine, memory, model files."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.cli.check import Check, State
from holdfast.cli.store_checks import sized
from holdfast.errors import HoldfastError
from holdfast.tokens import family_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.config import Settings

__all__ = ["part_checks"]


def part_checks(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Look at the engine, the memory, the tokenizer and the files of local models."""
    yield _engine(settings)
    yield from _memory(settings, environ)
    yield _tokenizer(settings)
    yield from _model_files(environ)


def _engine(settings: Settings) -> Check:
    from holdfast.wiring.engines import BUILT_IN, engine_names, engine_trouble

    name = settings.context.engine
    try:
        names = engine_names()
    except OSError:
        # The check of the home directory says what is wrong with it.
        names = BUILT_IN
    plugins = [each for each in names if each not in BUILT_IN]
    others = f"; plug-ins: {', '.join(plugins)}" if plugins else ""
    if name in names:
        trouble = engine_trouble(name)
        if not trouble:
            return Check("engine", State.OK, f"{name}{others}")
        words = f"{name} cannot be used: {trouble}; compressor is used instead{others}"
        return Check("engine", State.WARN, words, "mend the plug-in, or set context.engine")
    advice = f"set context.engine to one of {', '.join(names)}"
    words = f"there is no engine {name}; compressor is used instead{others}"
    return Check("engine", State.WARN, words, advice)


def _memory(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    from holdfast.memory import NOTEBOOKS, usage
    from holdfast.wiring.memories import memory_of
    from holdfast.wiring.remembered import memory_files_of

    try:
        files = memory_files_of(settings, environ)
        sizes = [f"{each.file} {usage(each, files.entries(each))}" for each in NOTEBOOKS.values()]
    except HoldfastError as error:
        yield Check("memory", State.FAIL, str(error))
    else:
        yield Check("memory", State.OK, ", ".join(sizes))
    name = settings.memory.provider
    if name is None:
        return
    try:
        memory_of(settings, environ)
    except HoldfastError as error:
        yield Check("memory provider", State.FAIL, str(error))
    else:
        yield Check("memory provider", State.OK, f"{name} has what it needs")


def _tokenizer(settings: Settings) -> Check:
    name = settings.model.name or ""
    family = family_of(name)
    if find_spec("splintr") is None:
        return Check("tokenizer", State.OK, f"estimates for the {family} family")
    return Check("tokenizer", State.OK, f"exact counts are at hand; estimates for {family}")


def _model_files(environ: Mapping[str, str]) -> Iterator[Check]:
    from holdfast.config import home
    from holdfast.providers.model_files import MODELS, find

    for name, model in MODELS.items():
        found = find(model, home(environ))
        if found is None:
            advice = f"holdfast models pull {name}"
            yield Check(f"model file {name}", State.OK, "not on this machine", advice)
        else:
            words = f"{sized(model.size)} at {found.folder}"
            yield Check(f"model file {name}", State.OK, words)
