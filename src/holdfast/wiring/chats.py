"""Opens the conversations of a chat in a terminal: one store, one memory, one model at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.agent import Agent, Habits, Toolbox
from holdfast.caching import Shrink
from holdfast.errors import ConfigError
from holdfast.ports.store import Amendment
from holdfast.providers.local_model import LocalModel
from holdfast.session import SERVER_KEY, EndReason, Fork, children_of, latest_leaf
from holdfast.system import SystemClock
from holdfast.transcript import is_user_word
from holdfast.wire import DIALECTS
from holdfast.wiring.assembly import WINDOW
from holdfast.wiring.conversations import Conversation, stored_conversation
from holdfast.wiring.memories import fitted, memory_files_of, memory_hub_of
from holdfast.wiring.models import (
    LocalWriter,
    is_local,
    known_window,
    model_of,
    out_of_reach,
    summarizer_of,
)
from holdfast.wiring.resuming import LOCAL, bare_address, resumption, server_of
from holdfast.wiring.stores import store_of
from holdfast.wiring.toolboxes import COMMAND_LIMIT, CORE_TOOLS, Kit, toolbox_for
from holdfast.wiring.usage_accounting import UsageAccounting, price_book

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.agent.turn import Turn
    from holdfast.caching import Payoff
    from holdfast.compaction import CompactionReport
    from holdfast.config import Settings
    from holdfast.conversation import StoredConversation
    from holdfast.memory_providers.memory_files import MemoryFiles
    from holdfast.ports import ChatModel, Summarizer
    from holdfast.session import Session
    from holdfast.wiring.conversations import ConversationOptions
    from holdfast.wiring.resuming import Resumption

PROMPT = (
    "You are a helpful assistant in a terminal. Answer briefly and to the point. What stands in "
    "memory-context blocks is reference material, not something the user says."
)
_LEFT_BEHIND = frozenset({EndReason.BRANCHED, EndReason.RESET})
"""Ends of conversations that the user left for another one, and may want as they were left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """What the user of a chat chose, and how to ask for a yes."""

    approve: Callable[[str], bool]
    """Asks the user whether something may be done."""
    fold: Callable[[str], bool] = lambda _: False
    """Asks the user whether a resumed conversation may be folded for a smaller window."""
    names_model: bool = False
    """Whether the model of the settings is meant for a resumed conversation too."""
    names_window: bool = False
    """Whether the window of the settings is meant for a resumed conversation too."""
    names_server: bool = False
    """Whether the server of the settings is meant for a resumed conversation too."""
    tools: bool = True
    memory: bool = True
    longest_answer: int = 160
    """Tokens that a model on this machine may say at once: it is slow, and repeats itself."""
    directory: Path | None = None
    """Where tools work and project files are read; the current directory by default."""


class Chats:
    """Opens conversations and gives each an agent; closed once, at the end."""

    def __init__(
        self, settings: Settings, environ: Mapping[str, str], options: ChatOptions
    ) -> None:
        """Open the store; the model is found when it is first needed, and nothing is sent yet."""
        self.settings = settings
        self._environ = environ
        self._options = options
        self._seated: tuple[ChatModel, UsageAccounting] | None = None
        self._server: tuple[str, str] | None = None
        """Address and provider that a resumed conversation brought along."""
        self._arriving: ChatModel | None = None
        """The model that a conversation is about to go on with."""
        self.memory = None
        if options.memory:
            self.memory = memory_hub_of(
                settings, environ, project=self._directory, reserved=CORE_TOOLS
            )
        self.store = store_of(settings, environ)

    @property
    def model(self) -> ChatModel:
        """Return who answers now: the configured model, until a conversation brings its own."""
        return self._seat()[0]

    @property
    def accounting(self) -> UsageAccounting:
        """Return the usage and cost of the model that answers now."""
        return self._seat()[1]

    @property
    def memory_files(self) -> MemoryFiles:
        """Return the built-in memory, which is kept in files."""
        return memory_files_of(self.settings, self._environ, project=self._directory)

    @property
    def window(self) -> int:
        """Return what the model takes, in tokens: as configured, listed, or assumed."""
        return _window_of(self.model)

    @property
    def is_window_assumed(self) -> bool:
        """Say whether nothing is known of what the model takes."""
        return self.model.context_length is None and known_window(self.model.name) is None

    def begin(self, resumed: str, prompt: str = "") -> Conversation:
        """Return a conversation to talk in.

        Args:
            resumed: The id of one to go on with; empty for a new one.
            prompt: The system prompt of a new one; the usual one if empty.
        """
        if resumed:
            options = self._options
            return self._opened(
                resumed,
                names_model=options.names_model,
                names_window=options.names_window,
                names_server=options.names_server,
            )
        chat = Conversation.open(**self._opening(self.model))
        self._keep_server(chat, is_named=self._options.names_server)
        return self.prepared(chat, prompt)

    def begin_anew(self, chat: Conversation) -> Conversation:
        """Return a conversation with an empty window and the same goal; the other one has ended.

        Whoever opens the other one by its id finds it as it was left.
        """
        return self.prepared(chat.new())

    def branch(
        self, chat: Conversation, title: str = "", *, keep_parent: bool = False
    ) -> Conversation:
        """Return a conversation that goes another way from here; the other one ends, or is kept."""
        child = chat.branch(title=title, keep_parent=keep_parent)
        if self.memory is not None:
            self.memory.begin_session(child.id, Fork.BRANCH)
        return child

    def open(self, id_: str) -> Conversation:
        """Return a stored conversation, or a new branch of one that was left for another.

        What a killed process had heard of an answer is kept. The conversation goes on with its
        own model and window. One that ended when the user began anew is open again. One that was
        branched off from stays as it is, and goes on in another branch.

        Raises:
            ConfigError: when its model cannot be had here, or when it is too large for what the
                model takes and nobody wants it folded.
        """
        return self._opened(id_)

    def _opened(
        self,
        id_: str,
        *,
        names_model: bool = False,
        names_window: bool = False,
        names_server: bool = False,
    ) -> Conversation:
        session = self.store.session(id_)
        if session.end_reason not in _LEFT_BEHIND:
            session = latest_leaf(self.store.lineage(id_), id_)
        before, self._server = self._server, None
        if not names_server:
            self._server = server_of(
                session, self.settings, names_server=self._options.names_server
            )
        try:
            chat = self._gone_on(session, names_model=names_model, names_window=names_window)
        except BaseException:
            self._server = before
            raise
        self._keep_server(chat, is_named=names_server or bool(session.server.get("named")))
        return chat

    def _gone_on(self, session: Session, *, names_model: bool, names_window: bool) -> Conversation:
        """Open a stored conversation with the model that it goes on with, at its server."""
        tokens = sum(each.tokens for each in self.store.window(session.id).entries)
        chosen = resumption(
            session, tokens, self.settings, names_model=names_model, names_window=names_window
        )
        # Another model is not taken where that of the conversation cannot be had.
        base_url, provider = self._server_of(chosen.model)
        reason = "" if base_url else out_of_reach(chosen.model, self._environ, provider)
        if reason and session.model == chosen.model:
            raise ConfigError(
                f"session {session.id} was held with {chosen.model}, which cannot be had here: "
                f"{reason}, or go on with another model with --model NAME"
            )
        if chosen.folds and not self._options.fold(_too_large(chosen)):
            raise ConfigError(
                f"{_too_large(chosen)}; --fold folds it for that, --model NAME goes on with "
                "another model"
            )
        model = self._found(chosen.model, chosen.window)
        chat = Conversation.open(self._reopened(session), **self._opening(model))
        self._seat(model)
        self.agent(chat).resume_draft()
        if chosen.folds:
            chat.switch_model(model.name, chosen.window)
        if self.memory is not None:
            self.memory.begin_session(chat.id)
        return chat

    def _reopened(self, session: Session) -> str:
        """Return the id of the session in which one goes on that the user had left behind."""
        if session.trashed is None and session.end_reason is EndReason.BRANCHED:
            left = stored_conversation(self.settings, self.store, session)
            return left.lineage.branch(keep_parent=True).id
        if session.trashed is None and session.end_reason is EndReason.RESET:
            self.store.end(session.id, None, SystemClock().moment())
        return session.id

    def ended(self, chat: Conversation) -> None:
        """Tell memory that the talk ends here, with what stands in the window."""
        if self.memory is not None:
            self.memory.ended(DIALECTS["openai"].decode(chat.body("openai")))

    def forget_if_unused(self, chat: Conversation) -> bool:
        """Delete a conversation in which nobody said anything; says whether it was one."""
        session = chat.session
        if session.title or any(is_user_word(each.message) for each in chat.log):
            return False
        lineage = self.store.lineage(session.id)
        inherited = next((each.goal for each in lineage if each.id == session.parent), "")
        if session.fork not in (None, Fork.RESET) or session.goal != inherited:
            return False
        if children_of(lineage, session.id):
            return False
        self.store.trash([session.id], SystemClock().moment())
        return self.store.purge([session.id]) > 0

    def prepared(self, chat: Conversation, prompt: str = "") -> Conversation:
        """Return a conversation with its system prompt, memory and project files included.

        They are as they were when it began: a prompt that changes is paid for in full again.
        """
        block = ""
        if self.memory is not None:
            self.memory.begin_session(chat.id, Fork.RESET)
            block = fitted(self.memory.system_block(), self.window)
        chat.set_system("\n\n".join(filter(None, (prompt or PROMPT, block))))
        return chat

    def agent(self, chat: StoredConversation) -> Agent:
        """Return who answers in a conversation; a model on this machine knows no tools."""
        toolbox = Toolbox()
        if self._options.tools and not isinstance(self.model, LocalModel):
            kit = Kit(
                store=self.store,
                model=self.model,
                directory=self._directory,
                approve=self._options.approve,
                memory=self.memory,
            )
            toolbox = toolbox_for(chat, kit)
        return Agent(
            chat,
            self.model,
            toolbox,
            memory=self.memory,
            caching=self.accounting,
            habits=self._habits,
        )

    def compaction_estimate(self, chat: Conversation) -> Payoff | None:
        """Return about what a compaction would cost now; None where no price is known."""
        tokens = chat.status().tokens
        shares = chat.live.deps.engine.policy.shares(fixed=0, rest=tokens)
        after = min(shares.tail + shares.record, tokens)
        asked = bool(chat.live.deps.engine.summarizer)
        return self.accounting.estimate(
            Shrink(
                before=0,
                after=after,
                brief=tokens - after if asked else 0,
                summary=shares.record if asked else 0,
            )
        )

    def side_question(self, chat: Conversation, question: str) -> Turn:
        """Answer a question in a review session, so that the conversation does not see it."""
        child = chat.review(title=question)
        try:
            agent = Agent(child, self.model, caching=self.accounting, habits=self._habits)
            yield from agent.turn(question)
        finally:
            child.end(EndReason.CLOSED)

    def switch(
        self, chat: Conversation, name: str, window: int | None = None
    ) -> CompactionReport | None:
        """Go on with another model; what does not fit it is folded first, by the old one.

        Args:
            name: The model. At a server of one's own, every name is that server's, save those of
                models on this machine.
            window: What it takes, in tokens; by default what is configured.

        Raises:
            ConfigError: when the model cannot be had here, or the conversation cannot be made to
                fit; the old model stays.
        """
        base_url, provider = self._server_of(name)
        if not base_url and (reason := out_of_reach(name, self._environ, provider)):
            raise ConfigError(f"{name} cannot be had here: {reason}; {self.model.name} stays")
        self._arriving = found = self._found(name, window)
        try:
            report = chat.switch_model(found.name, _window_of(found))
        finally:
            self._arriving = None
        self._seat(found)
        self._keep_server(chat, is_named=bool(chat.session.server.get("named")))
        return report

    def close(self) -> tuple[str, ...]:
        """Let memory take in what waits, and close everything; returns what was left undone."""
        try:
            return self.memory.close() if self.memory else ()
        finally:
            if self._seated is not None:
                _stop(self._seated[0])
            self.store.close()

    def _seat(self, model: ChatModel | None = None) -> tuple[ChatModel, UsageAccounting]:
        """Let a model answer from now on, with its own accounting; the one before it is stopped."""
        if self._seated is not None and model is None:
            return self._seated
        model = model or self._found(self.settings.model.name or LOCAL)
        if self._seated is not None:
            _stop(self._seated[0])
        ttl = self.settings.model.cache_ttl
        self._seated = model, UsageAccounting(model, SystemClock(), ttl=ttl, prices=price_book())
        return self._seated

    def _opening(self, model: ChatModel) -> ConversationOptions:
        limits = self.settings.context.tool_limits
        opening: ConversationOptions = {
            "settings": self.settings,
            "store": self.store,
            "model": model.name,
            "context_length": _window_of(model),
            "endpoint": model.endpoint,
            "source": "cli",
            "agent": "chat",
            "client": partial(self._writer, opening=model),
            "ahead_of_time": True,
            "tool_limits": {} if "*" in limits else {**COMMAND_LIMIT, **limits},
            # A switch of models opens other books.
            "bill": lambda report: self.accounting.bill(report),
        }
        if self.memory is not None:
            memory = self.memory
            opening["before_folding"] = memory.before_folding
            opening["listeners"] = (
                lambda move: memory.switched(move.old, move.new, move.reason, rewound=move.rewound),
            )
        return opening

    @property
    def _habits(self) -> Habits:
        is_here = isinstance(self.model, LocalModel)
        return Habits(max_tokens=self._options.longest_answer if is_here else None)

    @property
    def _directory(self) -> Path:
        return self._options.directory or Path.cwd()

    def _server_of(self, name: str) -> tuple[str | None, str]:
        """Return the address and the provider of a model, as far as the settings say them."""
        if self._server is not None and not is_local(name):
            return self._server
        model = self.settings.model
        is_there = name == model.name or not is_local(name)
        if is_there and (model.base_url or name == model.name or "/" not in name):
            return model.base_url, model.provider
        return None, "auto"

    def _keep_server(self, chat: Conversation, *, is_named: bool) -> None:
        """Keep with a conversation at which server of one's own it is held; never a credential."""
        base_url, provider = self._server_of(self.model.name)
        if not base_url and (not self._options.names_server or is_local(self.model.name)):
            return
        kept: dict[str, object] = {}
        if base_url:
            kept = {"base_url": bare_address(base_url), "provider": provider, "named": is_named}
        if kept != chat.session.server:
            chat.live.amend(Amendment(metadata={SERVER_KEY: kept or None}))

    def _found(self, name: str, window: int | None = None) -> ChatModel:
        base_url, provider = self._server_of(name)
        window = window or self.settings.model.context_length
        return model_of(name, provider, base_url, window, self._environ)

    def _writer(self, name: str, opening: ChatModel) -> Summarizer | None:
        """Return the model of that name as one that writes records, wherever it is reached."""
        seated = self._seated[0] if self._seated is not None else None
        known = (self._arriving, seated, opening)
        model = next((each for each in known if each is not None and each.name == name), opening)
        timeout = self.settings.auxiliary.compression.timeout
        if isinstance(model, LocalModel):
            return LocalWriter(model, timeout)
        return summarizer_of(
            model.name,
            provider="anthropic" if model.dialect == "anthropic" else "openai",
            base_url=model.endpoint or None,
            timeout=timeout,
            window=_window_of(model),
        )


def _stop(model: ChatModel) -> None:
    """Stop a model that runs in this process."""
    if isinstance(model, LocalModel):
        model.close()


def _window_of(model: ChatModel) -> int:
    """Return what a model takes, in tokens: as configured, listed, or assumed."""
    return model.context_length or known_window(model.name) or WINDOW


def _too_large(chosen: Resumption) -> str:
    return (
        f"the conversation has about {chosen.tokens:,} tokens, and is too large for the "
        f"{chosen.window:,} that {chosen.model} takes"
    )
