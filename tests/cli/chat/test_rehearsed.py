"""What a rehearsal says, and what it shows at its end: where things stand that were folded."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.cli.chat.rehearsed import DETAIL, FACTS, REHEARSAL, Fact, WindowPassage, telling
from tests.cli.chat.counting import counting_provider
from tests.cli.chat.talking import shown, talk
from tests.cli.running import Ended, run

ANSWER = "It may be the clock or the network, so somebody who lives close by should have a look. "
FOLDED = re.compile(r"\[folded\] .* about ([\d,]+) -> ([\d,]+) tokens")
VERDICT = re.compile(r"  (yes|no|store) +(\S+) {2,}")


@dataclass(frozen=True)
class Verdict:
    """One thing that was asked for at the end."""

    word: str
    text: str


def rehearse(characters: int) -> Ended:
    with counting_provider((ANSWER * 4)[:characters]) as server:
        return talk(server, flags=("--rehearse",))


def verdicts(ended: Ended) -> dict[str, Verdict]:
    """Return each verdict by the first word of what it is about."""
    found: dict[str, Verdict] = {}
    name = ""
    lines = ended.text.splitlines()
    begin = lines.index("What was said early, and where it stands now:") + 1
    for line in lines[begin : lines.index("", begin)]:
        if start := VERDICT.match(line):
            name = start[2]
            found[name] = Verdict(start[1], line[20:])
        else:
            found[name] = Verdict(found[name].word, f"{found[name].text} {line.strip()}")
    return found


@pytest.mark.parametrize("characters", [110, 180, 240])
def test_whatever_is_answered_the_fold_saves_more_than_half_and_keeps_what_matters(
    home: Path, characters: int
) -> None:
    ended = rehearse(characters)
    assert (ended.code, ended.errors) == (0, "")
    (fold,) = FOLDED.findall(ended.text)
    before, after = (int(figure.replace(",", "")) for figure in fold)
    assert after <= before / 2
    found = verdicts(ended)
    for fact in FACTS:
        assert found[fact.name].word == "yes", found
        assert all(words in found[fact.name].text for words in fact.words)
        assert re.search(
            r" record: \w.*; message \d+ was folded",
            found[fact.name].text,
        )


def test_it_says_that_a_corrected_value_is_gone_and_where_a_detail_is(home: Path) -> None:
    ended = rehearse(180)
    found = verdicts(ended)
    assert found["correction"].text.endswith("; 02:30 stands nowhere in the window")
    assert found["detail"] == Verdict(
        "store",
        "22:41 station 48 gauge replaced by Okafor store: message 8, which a search finds",
    )
    assert "gauge replaced by Okafor" in run("search", "gauge replaced by Okafor", "--json").text


def commands(ended: Ended) -> list[str]:
    """Return the commands with which a rehearsal ends."""
    lines = ended.text.splitlines()
    listed = lines[lines.index("To see more:") + 1 :]
    return [line.strip() for line in listed if not line.startswith("      ")]


def test_its_last_words_are_commands_that_work_as_printed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A shell that knows neither our command nor, afterwards, the home directory.
    monkeypatch.setenv("PATH", os.defpath)
    ended = rehearse(180)
    monkeypatch.delenv("HOLDFAST_HOME")
    diff, search, resume, sample = commands(ended)
    for each in (diff, search, sample):
        done = subprocess.run(each, shell=True, capture_output=True, check=True)
        assert done.stdout
    shown = subprocess.run(f"{diff} --limit 0", shell=True, capture_output=True, check=True)
    for fact in FACTS:
        assert fact.words[0] in shown.stdout.decode()
    assert f"HOLDFAST_HOME={home} " in resume
    assert resume.endswith(" chat --resume last")


@pytest.mark.parametrize("window", [3_072, 20_000])
def test_its_figures_agree_with_the_window_that_was_given(home: Path, window: int) -> None:
    with counting_provider((ANSWER * 4)[:180]) as server:
        ended = talk(server, flags=("--rehearse", "--context-length", str(window)))
    text = " ".join(ended.text.split())
    assert f", {window:,} tokens" in ended.text.splitlines()[0]
    (told,) = re.findall(rf"The window of {window:,} tokens has \d+ of them, about ([\d,]+) ", text)
    assert told == re.findall(r"([\d,]+)/[\d,k]+ tokens", text)[-1]
    assert ("Nothing was folded" in text) == (window > 3_072)


def test_what_is_pasted_is_echoed_by_its_ends(home: Path) -> None:
    echoed = [line for line in shown(rehearse(180)) if line.startswith("> ")]
    assert "> ... 17 more lines" in echoed
    assert f"> {REHEARSAL[-1]}" in echoed


def test_a_fact_stands_in_a_passage_that_says_all_of_it() -> None:
    fact = Fact("decision", ("leave it out", "because"))
    parts = (
        WindowPassage("a", "We leave it out."),
        WindowPassage("b", "We leave it out, because it lies."),
    )
    assert telling(fact, parts) == ([parts[1]], [])
    assert telling(fact, parts[:1]) == ([], [])


def test_an_outdated_value_is_told_where_a_passage_has_it_without_the_new_one() -> None:
    fact = Fact("correction", ("at 04:15",), outdated="02:30")
    parts = (
        WindowPassage("a", "The backup is made at 02:30."),
        WindowPassage("b", "The backup is made at 04:15, no longer at 02:30."),
    )
    assert telling(fact, parts) == ([parts[1]], [parts[0]])


def test_every_fact_is_said_once_before_the_window_is_full_and_the_last_turn_is_a_task() -> None:
    for fact in (*FACTS, DETAIL):
        said = [turn for turn in REHEARSAL if all(words in turn for words in fact.words)]
        assert len(said) == 1
        assert said[0] in REHEARSAL[:6]
    assert "newest task" in REHEARSAL[-1]


def test_a_value_is_said_before_it_is_corrected() -> None:
    for fact in FACTS:
        if fact.outdated:
            first = next(at for at, said in enumerate(REHEARSAL) if fact.outdated in said)
            second = next(at for at, said in enumerate(REHEARSAL) if fact.words[0] in said)
            assert first < second
