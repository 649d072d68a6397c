"""With which model a stored conversation goes on, and whether that one can take it.

A conversation keeps its own model and window: a default that is configured for new ones must not
fold one that was held with a larger model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from holdfast.wiring.assembly import WINDOW, policy_of
from holdfast.wiring.models import known_window, provider_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.config import Settings
    from holdfast.session import Session

LOCAL = "local"
"""The model of a conversation where nobody names one."""
_LARGER_WINDOW = 1_000_000
"""Tokens that a model is taken to accept that has been given more than is usually assumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """How a stored conversation goes on."""

    model: str
    window: int
    tokens: int
    """About what the conversation weighs now."""
    folds: bool
    """Whether it has to be folded, because its window gets smaller."""


def resumption(
    session: Session,
    tokens: int,
    settings: Settings,
    *,
    names_model: bool = False,
    names_window: bool = False,
) -> Resumption:
    """Return how a stored conversation goes on.

    Args:
        tokens: About what stands in its window.
        names_model: Whether the model of the settings is meant for this conversation.
        names_window: Whether the window of the settings is meant for this conversation.
    """
    configured = settings.model.name or LOCAL
    is_same = session.model in (
        configured,
        provider_of(configured, settings.model.provider, settings.model.base_url)[1],
    )
    keeps = bool(session.model) and (is_same or not names_model)
    model = session.model if keeps and not is_same else configured
    held = session.context_length
    if held is None and session.model:
        # Of a model that nothing is known of, what it has been given.
        assumed = WINDOW if tokens <= WINDOW else max(_LARGER_WINDOW, tokens)
        held = known_window(session.model) or assumed
    stated = settings.model.context_length if names_window or model == configured else None
    if keeps and not names_window:
        window = session.context_length or stated or held or WINDOW
    else:
        window = stated or known_window(model) or WINDOW
    due = replace(settings, model=replace(settings.model, context_length=window))
    is_smaller = held is None or window < held
    folds = is_smaller and tokens >= policy_of(due).threshold_tokens
    return Resumption(model=model, window=window, tokens=tokens, folds=folds)


def server_of(
    session: Session, settings: Settings, *, names_server: bool = False
) -> tuple[str, str] | None:
    """Return the address and provider at which a stored conversation stays; None if configured.

    A server that a flag named for it stays; one that was configured moves with the settings, as
    long as they name any.

    Args:
        names_server: Whether flags name the server of the settings.
    """
    kept, model = session.server, settings.model
    address, provider = kept.get("base_url"), kept.get("provider")
    if not isinstance(address, str) or not isinstance(provider, str):
        return None
    if model.base_url and not names_server and not kept.get("named"):
        return None
    # What is configured may have the credential that the store does not keep.
    is_same = bool(model.base_url) and bare_address(model.base_url or "") == address
    return (model.base_url or address) if is_same else address, provider


def bare_address(url: str) -> str:
    """Return an address without what may be a credential in it."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def settings_for(
    settings: Settings, held_with: str, window: int | None, flags: Mapping[str, object]
) -> Settings:
    """Return the settings for a session that is looked at or worked on: with its own model.

    Args:
        held_with: The model that the session was held with; empty where that is not known.
        window: What that model takes, where the session says so.
        flags: The flags of the command; a model or a window that they name is meant.
    """
    names_window = flags.get("context_length") is not None
    model = settings.model
    if held_with not in ("", model.name):
        if flags.get("model_name") is not None:
            return settings
        length = model.context_length if names_window else None
        model = replace(
            model, name=held_with, provider="auto", base_url=None, context_length=length
        )
    if window and not names_window:
        model = replace(model, context_length=window)
    return replace(settings, model=model)
