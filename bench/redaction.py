"""How fast redaction is on mixed and on hostile text, and what it finds and leaves alone.

Times are CPU seconds of the fastest round, so that other work on the machine disturbs them little.
"""

from __future__ import annotations

import json
import re
import time
from itertools import cycle, islice
from typing import TYPE_CHECKING

from bench import outputs
from bench.project import Dice, project
from bench.prose import sentence
from bench.report import Bar, Result, Table, alone, shared
from holdfast.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bench.project import Project
    from bench.report import Cell

SEED = 20
FASTEST = 50.0
"""MB/s that mixed text must reach."""
HOSTILE = 32_768
SLOWEST = 0.020
"""Seconds that a hostile line of 32 KB may take."""
STEEPEST = 1.6
"""How much dearer a byte may be in a line 32 times as long, for caches and noise."""
ROUNDS = 5
SURE = 0.90
MEGABYTE = 1_000_000

UNITS = {
    "dotted ids": "a.",
    "dotted words": "abc.def1.",
    "first lines of keys": "-----BEGIN PRIVATE KEY-----",
    "keys without an end": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n",
    "schemes": "://",
    "user names in addresses": "://a:",
    "logins": "://a:b@",
    "names without values": "key=",
    "names as values": "api_key=",
    "distinct bindings": "api_key=aa,",
    "opened quotes": 'secret:"a ',
    "escaped quotes": 'password=\\"',
    "starts of tokens": "eyJ",
    "halves of tokens": "eyJhbGciOiJIUzI1NiJ9.",
    "tokens": "sk-a1b2c3d4e5f6g7h8i9j0k1 ",
    "quotes": '"',
    "long base64": "aGVsbG8gd29ybGQK0",
    "base64 with slashes": "aGVsbG8gd29ybGQhISE0aGVsbG8/",
    "at signs": "@",
    "digits": "1",
    "pluses": "+1",
    "dashes": "-",
    "phone numbers": "415-555-",
    "commands": "curl -u ",
    "flags": "mysql -p",
    "headers": "authorization: ",
    "cookies": "cookie: a=b; ",
    "parameters": "?token=a&",
    "ids of access keys": "AKIAABCDEFGHIJKLMNOP ",
    "not ASCII": "😀key=",
    "names as schemes": "://auth",
    "names in prose": "password is ",
    "names in tables": "| password | a1 ",
    "colors": "\x1b[32mkey=",
    "passwords in Russian": "\u043f\u0430\u0440\u043e\u043b\u044c: a1 ",
    "colons in Chinese": "\u5bc6\u7801\uff1aa1",
    "manifests": "kind: secret\ndata:\n  a: bcde\n",
    "web keys": '"kty":',
    "hashes": "$6$a$",
    "addresses without a scheme": "a:b@tcp(",
    "password files": "a:*:b:c:d",
    "flags of commands": "-a abcd ",
    "open brackets": "PASSWORD=a1b2((",
    "unlikely letters": "qxzjkv",
    "keys of something": "x_key=a1b2c3d4e5f6g7h8i9j0k1l2 ",
    "names with a blank": "api key ",
    "names of services": "mailjet: a1b2c3d4e5f6a7b8c9d0 ",
    "blocks of YAML": "token: |\n  ",
    "lines of images": "ENV A_KEY ab",
    "users of shares": "net use \\\\a\\b /user:",
    "five fields": "a:1234:b:c:d1x ",
    "tickets": "$krb5tgs$23$",
}


def run() -> Result:
    """Measure speed, growth, recall and precision."""
    mixed, growth = _mixed_table(), _hostile_rows()
    speed = min(float(row[1]) for row in mixed.rows)
    slowest = max(growth, key=lambda row: row[1])
    steepest = max(growth, key=lambda row: row[2])
    bars = [
        Bar("redaction of mixed text: 50 MB/s", f"{speed:.0f} MB/s", kept=speed >= FASTEST),
        Bar(
            "redaction of a hostile 32 KB line: 20 ms",
            f"{1000 * slowest[1]:.1f} ms ({slowest[0]})",
            kept=slowest[1] < SLOWEST,
        ),
        Bar(
            "redaction is linear: a byte of a 1 MB line costs what a byte of 32 KB does",
            f"{steepest[2]:.2f} times ({steepest[0]})",
            kept=steepest[2] < STEEPEST,
        ),
    ]
    columns = ("line of 32 KB", "ms", "cost of a byte at 1 MB")
    rows = tuple((name, f"{1000 * small:.2f}", f"{ratio:.2f}") for name, small, ratio in growth)
    tables = [mixed, Table("redaction-hostile", columns, rows)]
    folder = shared()
    if folder and (folder / "data" / "secrets").is_dir():
        found, promises = _samples(folder / "data" / "secrets")
        tables.append(found)
        bars += promises
    return Result("redaction", tuple(tables), tuple(bars))


def _mixed_table() -> Table:
    dice = Dice(SEED)
    names = project(dice, 120)
    texts = [_mixed(dice, names) for _ in range(4)]
    messages = [text[at : at + 4_000] for text in texts for at in range(0, len(text), 4_000)]
    size = sum(map(len, texts)) / MEGABYTE
    rows: tuple[tuple[Cell, ...], ...] = (
        ("texts of 1 MB", f"{size / _seconds(lambda: [redact(text) for text in texts]):.0f}"),
        ("messages of 4 kB", f"{size / _seconds(lambda: [redact(text) for text in messages]):.0f}"),
    )
    note = "Logs, code, JSON, diffs, tests and prose; a secret about every 25 kB."
    return Table("redaction-speed", ("mixed text", "MB/s"), rows, note)


def _mixed(dice: Dice, names: Project) -> str:
    """Return about a megabyte of what agents read, with secrets planted."""
    kinds = (
        outputs.python,
        outputs.typescript,
        outputs.documents,
        outputs.logs,
        outputs.suite,
        outputs.failures,
        outputs.diff,
        outputs.history,
        outputs.listing,
        outputs.build,
        outputs.records,
    )
    parts: list[str] = []
    size = 0
    for kind in cycle(kinds):
        part = "\n".join(islice(kind(dice, names), 40))
        parts += [part, sentence(dice, names)]
        if dice.random() < 0.15:
            parts.append(_secret(dice))
        size += len(part)
        if size >= MEGABYTE:
            return "\n".join(parts)
    raise AssertionError


def _secret(dice: Dice) -> str:
    return dice.any(
        [
            f"export SERVICE_TOKEN={dice.hex(32)}",
            f'{{"password": "{dice.hex(10)}!"}}',
            f"Authorization: Bearer {dice.hex(40)}",
            f"postgres://app:{dice.hex(12)}@db:5432/main",
            f"token ghp_{dice.hex(36)}",
            f"curl -u admin:{dice.hex(12)} https://localhost/",
        ]
    )


def _hostile_rows() -> list[tuple[str, float, float]]:
    """Return name, seconds for 32 KB, and cost of a byte at 1 MB relative to 32 KB."""
    rows: list[tuple[str, float, float]] = []
    for name, unit in UNITS.items():
        small, large = _line(unit, HOSTILE), _line(unit, 32 * HOSTILE)
        seconds = _seconds(lambda text=small: redact(text), rounds=2 * ROUNDS)
        growth = _seconds(lambda text=large: redact(text), rounds=2) / 32 / seconds
        rows.append((name, seconds, growth))
    return rows


def _line(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def _samples(folder: Path) -> tuple[Table, list[Bar]]:
    rows: list[tuple[Cell, ...]] = []
    bars: list[Bar] = []
    hits = wrong = missing = 0
    for path in sorted(folder.glob("*_samples.json")):
        scored = _score(path)
        found, alarms, lost, apart = scored
        hits, wrong, missing = hits + found, wrong + alarms, missing + lost
        recall, precision = found / (found + lost), found / (found + alarms)
        without = found / (found + alarms - apart)
        name = path.stem.removesuffix("_samples")
        rows.append((name, f"{recall:.3f}", f"{precision:.3f}", f"{without:.3f}"))
        for what, value in (("recall", recall), ("precision", precision)):
            bars.append(Bar(f"{what} on {name}: .90", f"{value:.3f}", kept=value >= SURE))
    rows.append(("together", f"{hits / (hits + missing):.3f}", f"{hits / (hits + wrong):.3f}", ""))
    columns = ("samples", "recall", "precision", "well-formed Google keys set apart")
    note = (
        "Found means changed; samples without a label are left out. Public addresses count as "
        "missed, and are not masked on purpose. Some negatives are well-formed Google keys that "
        "their scanner excuses one by one because they were published; they are masked here."
    )
    return Table("redaction-samples", columns, tuple(rows), note), bars


_GOOGLE_KEY = re.compile(r"AIzaSy[\w-]{33}")


def _score(path: Path) -> tuple[int, int, int, int]:
    """Return hits, false alarms, misses, and the alarms on well-formed Google keys."""
    hits = alarms = lost = apart = 0
    for sample, positive in _labelled(path):
        changed = redact(sample) != sample
        hits += changed and positive
        lost += positive and not changed
        alarms += changed and not positive
        apart += changed and not positive and bool(_GOOGLE_KEY.fullmatch(sample))
    return hits, alarms, lost, apart


def _labelled(path: Path) -> Iterator[tuple[str, bool]]:
    for sample in json.loads(path.read_text("utf-8"))["samples"]:
        if sample["positive"] is not None:
            yield sample["text"], bool(sample["positive"])


def _seconds(work: Callable[[], object], *, rounds: int = ROUNDS) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


if __name__ == "__main__":
    alone(run)
