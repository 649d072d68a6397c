import json
from dataclasses import replace

import pytest

from bench.gateway.cells import DIRECT, HOLDFAST, PASSTHROUGH, Cell, Figures, at, taken_in_turn
from bench.gateway.clients import Load, Taken
from bench.gateway.conversations import ANSWER, KINDS, PATHS, Talk
from bench.gateway.measure import Measured, Sizes, measured
from bench.gateway.processes import Footprint, GatewayRunFailed, clients, module
from bench.gateway.tables import gateway_bars, gateway_tables
from bench.peers.gateway import peer_bars, peer_table

SMALL = Sizes(
    crowds=(4, 6),
    conversations=6,
    requests=12,
    seconds=0.2,
    large=2,
    large_kind="100 kB",
    streams=3,
    live=16,
    idle=8,
)


def figures(first: float, processor: float = 1.0) -> Figures:
    return Figures(Taken([first] * 100, [first] * 100, 1.0, 2_000_000, 100), processor)


def found(bare: float, ours: float, **more: float) -> dict[str, Figures]:
    named = {DIRECT: 1.0, PASSTHROUGH: 1.0 + bare, HOLDFAST: 1.0 + ours}
    return {name: figures(first) for name, first in {**named, **more}.items()}


def footprint(megabytes: int, threads: int = 9, descriptors: int = 30) -> Footprint:
    return Footprint(megabytes * 1_000_000, megabytes * 1_000_000, threads, descriptors)


MEMORY = (
    ("8 of 20 kB", footprint(60)),
    ("1,000 of 20 kB, three turns each", footprint(200)),
    ("and 300 more of 2 kB, one turn each", footprint(201)),
    ("and 300 more of 20 kB, one turn each", footprint(202)),
)


@pytest.mark.parametrize("dialect", [*PATHS])
@pytest.mark.parametrize("kind", ["2 kB", "20 kB"])
def test_a_conversation_goes_on_in_every_dialect_and_is_known_again(
    dialect: str, kind: str
) -> None:
    talk, other = Talk(kind, dialect), Talk(kind, dialect)
    first = talk.body(stream=True)
    assert 0.8 < len(first) / (1000 * int(kind.split()[0])) < 1.2
    talk.go_on()
    second = json.loads(talk.body(stream=False))
    assert ANSWER in json.dumps(second)
    assert talk.body(stream=True) != other.body(stream=True)
    assert not {*map(json.dumps, said(first))} & {*map(json.dumps, said(other.body(stream=True)))}
    assert said(json.dumps(second).encode())[: len(said(first))] == said(first)


def said(body: bytes) -> list[object]:
    fields = json.loads(body)
    return next(fields[name] for name in ("messages", "input", "contents") if name in fields)


def test_a_long_conversation_has_2000_messages_and_a_megabyte() -> None:
    body = Talk("1 MB").body(stream=True)
    assert len(said(body)) == KINDS["1 MB"][0] + 1
    assert 0.9e6 < len(body) < 1.1e6


def test_the_upstream_and_the_pass_through_say_the_same_in_every_dialect() -> None:
    with (
        module("upstream") as upstream,
        module("passthrough", upstream.url) as bare,
        clients() as driven,
    ):
        for dialect in PATHS:
            for is_streamed in (True, False):
                cell = Cell(
                    work="", kind="2 kB", dialect=dialect, is_streamed=is_streamed, requests=2
                )
                taken = taken_in_turn(cell, (upstream, bare), driven)
                counts = [each.taken.events for each in taken.values()]
                assert counts[0] == counts[1]
                assert (counts[0] > 60) is is_streamed
        with pytest.raises(GatewayRunFailed, match=r"127\.0\.0\.1:9: .*refused"):
            driven.drive(Load(url="http://127.0.0.1:9", group="nobody", requests=1))


def test_the_whole_benchmark_runs_at_a_small_size() -> None:
    result = measured(SMALL)
    latency, streams, memory = result.tables
    assert [table.name for table in result.tables] == [
        "gateway",
        "gateway-streams",
        "gateway-memory",
    ]
    assert len(latency.rows) == 19
    assert [row[0] for row in streams.rows] == [1, 8]
    assert [row[0] for row in memory.rows][1] == "16 of 20 kB, three turns each"
    assert any("folded before" in str(row[0]) for row in latency.rows)


def test_bars_are_about_fifty_clients_and_about_a_megabyte() -> None:
    crowd = Cell(work="20 kB, goes on", clients=50, rate=50)
    large = Cell(work="1 MB", kind="1 MB")
    latency = (
        (crowd, found(0.5, 2.9)),
        (replace(crowd, clients=200), found(0.5, 99.0)),
        (replace(crowd, rate=0), found(9.0, 30.0)),
        (large, found(1.0, 14.0)),
        (replace(large, is_new=True), found(1.0, 999.0)),
        (large, found(1.0, 16.0)),
    )
    stream = (Cell(work="", clients=8), found(0.0, 0.0))
    seen = Measured(latency, (stream,), MEMORY, 1.0)
    bars = gateway_bars(seen)
    assert [bar.kept for bar in bars] == [True, False, True, False, *[True] * 5]
    verdicts = [row[-1] for row in gateway_tables(seen)[0].rows]
    assert verdicts == ["kept", "", "**missed**", "kept", "", "**missed**"]
    assert gateway_tables(seen)[0].rows[0][3:6] == ("1.0 / 1.0", "0.5 / 0.5", "2.9 / 2.9")


def test_memory_descriptors_and_idle_conversations_have_bars() -> None:
    heavy = (MEMORY[0], (MEMORY[1][0], footprint(301, 49, 51)), *MEMORY[2:3])
    longer = (MEMORY[3][0], footprint(220))
    seen = Measured((), (), (*heavy, longer), 1.0)
    assert [bar.kept for bar in gateway_bars(seen)] == [False, False, False, True]


def test_the_promise_beside_litellm_is_a_tenth_of_what_it_adds() -> None:
    one = Cell(work="20 kB")
    crowd, closed = replace(one, clients=50, rate=15), replace(one, clients=50)
    kept, missed = found(0.5, 1.0, litellm=12.0), found(0.5, 1.2, litellm=12.0)
    beside = [(one, kept), (crowd, missed), (closed, missed)]
    assert [bar.kept for bar in peer_bars(beside)] == [True, False]
    assert peer_bars(beside)[0].measured == "1.0 against 11.0 ms"
    shares = [row[-2] for row in peer_table(beside, 1.0).rows]
    assert shares == ["0.09", "0.11", "0.11"]


def test_a_share_of_values_is_not_above_the_one_returned() -> None:
    assert [at([3.0, 1.0, 2.0, 4.0], share) for share in (0.0, 0.5, 0.99)] == [1.0, 3.0, 4.0]
