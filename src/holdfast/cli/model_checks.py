"""The checks of `doctor` on models: their windows, credentials and addresses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.cli.check import Check, State
from holdfast.cli.reach_checks import place_of
from holdfast.providers.provider_errors import SERVER_KEY
from holdfast.wiring import policy_of
from holdfast.wiring.models import LOCAL_WINDOW, is_local, known_window, provider_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.config import Settings

__all__ = ["model_checks", "needed_extras"]

_CREDENTIALS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def model_checks(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Look at the conversation's model and at the one that writes summaries."""
    yield _window(settings)
    yield from _chat_model(settings, environ)
    yield from _summary_model(settings, environ)


def needed_extras(settings: Settings) -> frozenset[str]:
    """Return the extras without which the models of the settings cannot be asked."""
    model, summary = settings.model, settings.auxiliary.compression
    chosen = ((model.name, model.provider), (summary.model, summary.provider))
    return frozenset(provider_of(name, provider)[0] for name, provider in chosen if name)


def _window(settings: Settings) -> Check:
    name, model = settings.model.name, settings.model
    if not name:
        words = f"{_due(settings)}; the chat's model on this machine takes {LOCAL_WINDOW:,}"
        return Check("window", State.OK, words)
    known = known_window(name, model.provider)
    if model.context_length is None and known is None:
        advice = f"set model.context_length to the window of {name}"
        return Check("window", State.WARN, f"assumed: {_due(settings)}", advice)
    if known is not None and (model.context_length or 0) > known:
        advice = f"set model.context_length to {known} or less"
        return Check("window", State.WARN, f"{_due(settings)}; {name} takes {known:,}", advice)
    listed = f"as listed for {name}: " if model.context_length is None else ""
    return Check("window", State.OK, f"{listed}{_due(_settled(settings))}")


def _settled(settings: Settings) -> Settings:
    """Return the settings with the window that is known of the model, where none is set."""
    model = settings.model
    known = known_window(model.name, model.provider) if model.name else None
    window = model.context_length or known
    return replace(settings, model=replace(model, context_length=window))


def _due(settings: Settings) -> str:
    policy = policy_of(settings)
    return f"{policy.context_length:,} tokens, compaction is due at {policy.threshold_tokens:,}"


def _chat_model(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    model = settings.model
    if model.name is None or is_local(model.name, model.provider):
        yield Check("model", State.OK, "the one on this machine, which needs no key")
        return
    provider, _ = provider_of(model.name, model.provider)
    yield Check("model", State.OK, f"{model.name} ({provider})")
    yield _credential("model credential", provider, model.base_url, environ)


def _summary_model(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    chosen = settings.auxiliary.compression
    if chosen.model is None:
        yield Check("summary model", State.OK, "none: the record is made without a model")
        return
    provider, _ = provider_of(chosen.model, chosen.provider)
    yield _summary_window(settings, f"{chosen.model} ({provider})")
    if is_local(chosen.model, chosen.provider):
        return
    yield _credential("credential", provider, chosen.base_url, environ)


def _credential(name: str, provider: str, address: str | None, environ: Mapping[str, str]) -> Check:
    # A provider's own key is never sent to another server.
    variable = SERVER_KEY if address else _CREDENTIALS[provider]
    if environ.get(variable, "").strip():
        return Check(name, State.OK, f"{variable} is set")
    if address:
        return Check(name, State.OK, f"none is sent to {place_of(address)}; {variable} would be")
    return Check(name, State.FAIL, f"{variable} is not set", f"export {variable}")


def _summary_window(settings: Settings, named: str) -> Check:
    chosen, policy = settings.auxiliary.compression, policy_of(_settled(settings))
    known = known_window(chosen.model, chosen.provider) if chosen.model else None
    window = chosen.context_length or known
    if window is None:
        words = f"its requests are sized for {policy.context_length:,} tokens"
        return Check("summary model", State.OK, f"{named}; {words} until it states its window")
    if window < policy.threshold_tokens:
        return Check(
            "summary model",
            State.WARN,
            f"{named}; its window of {window:,} tokens is under the threshold of "
            f"{policy.threshold_tokens:,}, so long sessions are summarized in several requests",
            "choose a model with a larger window, or lower compression.threshold",
        )
    return Check("summary model", State.OK, f"{named}; its window is {window:,} tokens")
