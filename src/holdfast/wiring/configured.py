"""Puts the engine together that the settings describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.compaction import Policy
from holdfast.config.summary_key import installation_sign
from holdfast.engines import Chain, Engine, Setup
from holdfast.engines.truncating import truncating_engine
from holdfast.redaction import Redactor
from holdfast.system.system_clock import SystemClock
from holdfast.wiring.counting import counter_of
from holdfast.wiring.summarizers import summarizer_of

if TYPE_CHECKING:
    from holdfast.config import Settings

__all__ = ["engine_of", "policy_of", "truncating_of"]


def policy_of(settings: Settings, *, fit: int | None = None) -> Policy:
    """Return the knobs of compaction that the settings make."""
    compression = settings.compression
    return Policy(
        context_length=settings.model.context_length or Policy().context_length,
        threshold=compression.threshold,
        target_ratio=compression.target_ratio,
        protect_first_n=compression.protect_first_n,
        protect_last_n=compression.protect_last_n,
        hygiene=compression.hygiene_threshold,
        abort_on_summary_failure=compression.abort_on_summary_failure,
        fit=fit,
    )


def engine_of(settings: Settings, *, fit: int | None = None, ask: bool = True) -> Engine:
    """Return an engine with the configured summary model, or with none.

    Args:
        settings: What is configured.
        fit: What the result may weigh, in tokens.
        ask: Whether a model may be asked at all.
    """
    clock = SystemClock()
    setup = Setup(
        clock=clock,
        chain=_chain(settings, clock) if ask else None,
        counter=counter_of(settings),
        redactor=Redactor(settings.redaction.extra_patterns),
        sign=installation_sign,
    )
    return Engine(policy_of(settings, fit=fit), setup)


def truncating_of(settings: Settings) -> Engine:
    """Return the engine that truncates, with the configured knobs."""
    setup = Setup(
        clock=SystemClock(),
        counter=counter_of(settings),
        redactor=Redactor(settings.redaction.extra_patterns),
    )
    return truncating_engine(policy_of(settings), setup)


def _chain(settings: Settings, clock: SystemClock) -> Chain | None:
    """Return who writes: the summary model, then the conversation's own when that one fails."""
    summary, main = settings.auxiliary.compression, settings.model
    if summary.model is None:
        return None
    first = summarizer_of(
        summary.model,
        provider=summary.provider,
        base_url=summary.base_url,
        timeout=summary.timeout,
        window=summary.context_length,
    )
    if main.name is None or main.name == summary.model:
        return Chain(first, clock=clock, timeout=summary.timeout)
    second = summarizer_of(
        main.name,
        provider=main.provider,
        base_url=main.base_url,
        timeout=summary.timeout,
        window=main.context_length,
    )
    return Chain(second, first, clock=clock, timeout=summary.timeout)
