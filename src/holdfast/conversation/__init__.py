"""Conversations that outlive the process: the store, an engine and the rules between them.

Read in this order: `dependencies`, `window`, `live`, `decode_input`, `log`, `waiting`, `lease`,
`passes`, `learned`, `compactor`, `lineage`, `difference`, `status`, `stored`; for searching
`finding`, `search_runner`, `searching`.
"""

from holdfast.conversation.dependencies import Dependencies, SessionOptions, Strategy, Switch
from holdfast.conversation.difference import Difference, difference
from holdfast.conversation.finding import Found
from holdfast.conversation.live import SESSION_VARIABLE, SessionStamp, activate, current_session
from holdfast.conversation.searching import SessionSearch
from holdfast.conversation.status import Status
from holdfast.conversation.stored import StoredConversation

__all__ = [
    "SESSION_VARIABLE",
    "Dependencies",
    "Difference",
    "Found",
    "SessionOptions",
    "SessionSearch",
    "SessionStamp",
    "Status",
    "StoredConversation",
    "Strategy",
    "Switch",
    "activate",
    "current_session",
    "difference",
]
