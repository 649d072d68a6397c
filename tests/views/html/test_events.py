"""What happened, as it stands in the page."""

from holdfast.session import CompactionRecord, Entry, Fork, Kind, Session
from holdfast.transcript import Message, Role, Summary, Synthetic, Text
from holdfast.views.html.page import Jumps, event_shown
from holdfast.views.messages import Visibility
from holdfast.views.timeline import (
    TimelineCompaction,
    TimelineFork,
    TimelineMessage,
    TimelineRewind,
)
from tests.views.html.pages import read

HELLO = Message(Role.USER, (Text("hello"),))


def entry(message: Message, kind: Kind = Kind.SAID) -> Entry:
    return Entry(
        id=7, session="s", position=7, kind=kind, message=message, at=1_763_282_000_000, tokens=12
    )


def test_a_message_has_an_anchor_its_speaker_time_weight_and_id() -> None:
    page = read(event_shown(TimelineMessage(entry(HELLO), HELLO, Visibility.SEEN)))
    assert page.tags[0] == ("article", {"id": "m7", "class": "user seen"})
    assert page.text("a") == "User"
    assert page.values("datetime") == ["2025-11-16T08:33:20.000+00:00"]
    assert page.text("span") == "12 tokens#7"
    assert page.text("p") == "hello"


def test_what_the_model_no_longer_sees_is_said_in_words() -> None:
    page = read(event_shown(TimelineMessage(entry(HELLO), HELLO, Visibility.GONE)))
    assert page.tags[0][1]["class"] == "user"
    assert "no longer in the window" in page.text("span")


def test_pins_models_and_our_own_notes_are_marked() -> None:
    message = Message(
        Role.ASSISTANT,
        (),
        synthetic=Synthetic.NOTE,
        pinned=True,
        extras={"native": {"model": "<a-model>"}},
    )
    page = read(event_shown(TimelineMessage(entry(message), message, Visibility.SEEN)))
    assert page.text("span") == "<a-model>12 tokenspinnedwritten by holdfast#7"
    assert page.text("p") == "[nothing]"


def test_the_summary_of_an_agent_is_nobody_s_word() -> None:
    message = Message(Role.USER, (Summary("so far", "codex"),), synthetic=Synthetic.SUMMARY)
    page = read(event_shown(TimelineMessage(entry(message), message, Visibility.SEEN)))
    assert page.tags[0][1]["class"] == "summary seen"
    assert page.text("a") == "Summary"
    assert page.text("span") == "12 tokens#7summary by Codex"


def test_a_compaction_shows_its_figures_and_what_it_wrote() -> None:
    record = CompactionRecord(
        at=0,
        trigger="manual",
        focus="<the bug>",
        report={
            "messages_before": 1200,
            "messages_after": 20,
            "tokens_before": 5000,
            "tokens_after": None,
        },
    )
    written = entry(Message(Role.USER, (Summary("so far"),)), Kind.DERIVED)
    page = read(event_shown(TimelineCompaction(record, (written,), is_undone=True)))
    assert page.text("h3") == "Compaction"
    assert page.text("p") == (
        " manual, 1,200 to 20 messages, 5,000 tokens before, with a focus on <the bug>"
        ", and undone since.so far"
    )
    assert page.values("id") == ["m7"]
    assert page.text("span") == "summary by holdfast"


def test_a_compaction_without_an_entry_of_its_own_shows_what_was_recorded() -> None:
    record = CompactionRecord(at=0, trigger="", summary="so far")
    page = read(event_shown(TimelineCompaction(record, (), is_undone=False)))
    assert page.text("p") == " without a known cause.so far"


def test_rewinds_and_sessions_are_marked() -> None:
    page = read(event_shown(TimelineRewind(0, is_undone=False)))
    assert page.text("p") == " The last turns were taken back."
    child = Session(id="s2", source="cli", started=0, title="<b>", fork=Fork.BRANCH)
    page = read(event_shown(TimelineFork(child)))
    assert page.text("p") == "Here begins session , <b> (branch)."
    assert page.text("code") == "s2"


def test_what_an_agent_said_of_its_compaction_is_shown_apart_from_the_heading() -> None:
    said = {"trigger": "auto", "tokens_before": 5000, "tokens_after": None}
    shown = event_shown(
        TimelineCompaction(
            CompactionRecord(at=0, trigger="agent", report={"agent": said}), (), is_undone=False
        )
    )
    assert "</h3> <p>" in shown
    assert read(shown).text("p") == " auto, 5,000 tokens before."
    bare = CompactionRecord(at=0, trigger="agent", report={"agent": {"trigger": ""}})
    assert (
        read(event_shown(TimelineCompaction(bare, (), is_undone=False))).text("p")
        == " by its agent."
    )


def test_what_was_injected_is_not_shown_as_the_user_s() -> None:
    message = Message(Role.USER, (Text("<system-reminder>x</system-reminder>"),))
    page = read(event_shown(TimelineMessage(entry(message), message, Visibility.SEEN)))
    assert page.text("a") == "Injected"
    assert page.count("details") == 1
    assert page.values("open") == []


def test_a_message_of_the_user_leads_to_the_one_before_and_the_one_after() -> None:
    said = TimelineMessage(entry(HELLO), HELLO, Visibility.SEEN)
    page = read(event_shown(said, Jumps((3, 7, 9))))
    assert page.values("href") == ["#m7", "#m3", "#m9"]
    assert page.values("aria-label") == ["previous message of the user", "next message of the user"]
    assert read(event_shown(said, Jumps((7, 9)))).values("href") == ["#m7", "#m9"]
    assert read(event_shown(said, Jumps((3, 9)))).values("href") == ["#m7"]
