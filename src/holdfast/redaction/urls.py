"""Find secrets in addresses: login, webhook paths, parameters, and form bodies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.redaction.assignments import holds_secret, is_parameter, names_secret
from holdfast.redaction.spans import Span
from holdfast.redaction.values import is_placeholder, is_random

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.redaction.sites import Site
    from holdfast.redaction.survey import Survey

__all__ = ["find_addresses", "login_pass", "parameter_pass", "signature_pass", "webhook_pass"]

_ADDRESS = re.compile(rb"/(?<=:/)/")
_AUTHORITY = re.compile(
    rb"(?:([^\s/?#@:\"'<>`\\{}|]{0,128}):([^\s/?#\"'<>`\\|]{1,256})@(?=[\w\[$%{.-])"
    rb"|([^\s/?#@:\"'<>`\\{}|,;()]{16,256})@(?=[\w\[]))",
)
_SHORTEST_PASSWORD = 3


def find_addresses(view: Survey) -> list[int]:
    """Return where the authority of each address begins, right after `://`."""
    return [found.end() for found in _ADDRESS.finditer(view.raw)]


def login_pass(view: Survey, addresses: Iterable[int]) -> list[Span]:
    """Return passwords in addresses of databases, brokers and sites, `scheme://user:this@host`.

    A user without a password counts when it looks generated: tokens are given like that.
    """
    spans: list[Span] = []
    for address in addresses:
        found = _AUTHORITY.match(view.raw, address)
        if found is None:
            continue
        password, lone = found.group(2), found.group(3)
        if password is not None:
            if len(password) >= _SHORTEST_PASSWORD and not is_placeholder(password):
                spans.append(Span(*found.span(2)))
        elif is_random(lone) and not is_placeholder(lone):
            spans.append(Span(*found.span(3)))
    return spans


_WEBHOOK = re.compile(
    rb"(?:[\w.-]{0,64}\.)?(?:"
    rb"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([\w/+-]{20,200})"
    rb"|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{10,20}/([\w-]{30,100})"
    rb"|hooks\.zapier\.com/hooks/catch/(\d+/\w+)"
    rb"|(?:webhook\.office\.com|office\.com)/webhook\w{0,3}/([\w@./-]{40,300})"
    rb"|softlayer\.com/(?:soap|xmlrpc|rest)/v3(?:\.1)?/([a-z0-9]{64})(?![a-z0-9])"
    rb"|chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?([\w=&%-]{20,300}))",
    re.IGNORECASE,
)


def webhook_pass(view: Survey, addresses: Iterable[int]) -> list[Span]:
    """Return the secret part of addresses that let anyone who knows them act."""
    spans: list[Span] = []
    for address in addresses:
        found = _WEBHOOK.match(view.raw, address)
        if found is None:
            continue
        group = found.lastindex or 0
        secret = found.group(group)
        if is_random(secret) and not is_placeholder(secret):
            spans.append(Span(*found.span(group)))
    return spans


_FIRST_LOOK = 256
_PARAMETER = re.compile(rb"[^\s&\"'<>`\\#;(){}\[\]|]{1,4096}")


def parameter_pass(view: Survey, sites: Iterable[Site]) -> list[Span]:
    """Return the values of telling parameters, in an address or in a form body."""
    raw = view.raw
    spans: list[Span] = []
    masked = 0
    may_be_form = b"&" in raw
    for site in sites:
        if site.is_field or site.value < masked or not names_secret(site):
            continue
        if not may_be_form and not is_parameter(raw, site):
            continue
        value = _PARAMETER.match(raw, site.value, site.value + _FIRST_LOOK)
        if value is None or not (raw.startswith(b"&", value.end()) or is_parameter(raw, site)):
            continue
        if holds_secret(site.kind, value.group(), literal=True):
            whole = _PARAMETER.match(raw, site.value) or value
            masked = whole.end()
            spans.append(Span(whole.start(), masked))
    return spans


_SIGNATURE = re.compile(
    rb"=(?:(?<=[?&]sig=)|(?<=signature=)|(?<=[?&]code=)|(?<=[?&]hmac=))([\w%+/.~-]{20,512}=*)",
)


def signature_pass(view: Survey) -> list[Span]:
    """Return signatures that make an address a capability: SAS, presigned links, codes."""
    spans: list[Span] = []
    for found in _SIGNATURE.finditer(view.lower):
        secret = view.raw[found.start(1) : found.end(1)]
        if is_random(secret) and not is_placeholder(secret):
            spans.append(Span(*found.span(1)))
    return spans
