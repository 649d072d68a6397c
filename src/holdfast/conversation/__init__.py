"""Conversations that outlive the process: the store, an engine and the rules between them.

Read in this order: `parts`, `heading`, `window`, `incoming`, `shortening`, `holding`, `current`,
`compacting`, `background`, `pulse`, `keeping`, `found`, `talk`, `turning`, `forking`, `difference`,
`status`, `session`; for searching `presence`, `threads`, `finding`, `answering`, `searching`.
"""

from holdfast.conversation.current import SESSION_VARIABLE, SessionStamp, activate, current_session
from holdfast.conversation.difference import Difference, difference
from holdfast.conversation.found import Found
from holdfast.conversation.parts import Options, Parts, Strategy, Switch
from holdfast.conversation.searching import SessionSearch
from holdfast.conversation.session import LiveSession
from holdfast.conversation.status import Status

__all__ = [
    "SESSION_VARIABLE",
    "Difference",
    "Found",
    "LiveSession",
    "Options",
    "Parts",
    "SessionSearch",
    "SessionStamp",
    "Status",
    "Strategy",
    "Switch",
    "activate",
    "current_session",
    "difference",
]
