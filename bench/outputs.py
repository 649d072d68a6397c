"""What tools print in a synthetic session: code, logs, test runs, searches, diffs, JSON.

Every line draws its own names and figures, so that nothing can profit from repetition that real
output does not have. Each function yields lines without end; the caller decides when to stop.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench.prose import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.project import Dice, Project

_LEVELS = ["INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARN", "ERROR"]
_ERRORS = ["ValueError", "KeyError", "TimeoutError", "TypeError", "ConnectionRefusedError"]
_STATES = ["pending", "active", "failed", "settled", "queued", "expired"]


def python(dice: Dice, names: Project) -> Iterator[str]:
    """Yield a Python module."""
    while True:
        yield f"class {dice.pick(names.classes)}({dice.any(names.classes)}):"
        yield f'    """{sentence(dice, names)}"""'
        yield ""
        for _ in range(1 + dice.below(5)):
            name, other = dice.pick(names.functions), dice.any(names.functions)
            thing = other.rpartition("_")[2]
            yield f"    def {name}(self, {thing}: str, *, limit: int = {dice.below(500)}) -> bool:"
            if dice.random() < 0.4:
                yield f"        # {sentence(dice, names)}"
            yield f"        found = self._{other}({thing}, timeout={dice.below(90)})"
            yield f"        if not found or len(found) > settings.{dice.pick(names.settings)}:"
            yield f'            raise {dice.any(_ERRORS)}(f"{thing} {{found!r}} over {{limit}}")'
            yield f'        log.info("{name} took %s", found["{thing}_id"])'
            yield f"        return {dice.any(names.functions)}(found, {dice.random():.3f})"
            yield ""


def typescript(dice: Dice, names: Project) -> Iterator[str]:
    """Yield a TypeScript module."""
    while True:
        component, call = dice.pick(names.classes), _camel(dice.any(names.functions))
        yield f"import {{ {call} }} from '../{dice.any(names.paths).rpartition('/')[2]}';"
        yield f"export function {component}({{ id, onChange }}: {component}Props) {{"
        state = dice.any(names.functions).rpartition("_")[2]
        setter = f"set{state.title()}"
        yield f"  const [{state}, {setter}] = useState<number>({dice.below(400)});"
        yield f"  useEffect(() => {{ {call}(id).then((r) => {setter}(r.{state})); }}, [id]);"
        yield f"  if ({state} === {dice.below(9)}) return <Spinner size={{{dice.below(64)}}} />;"
        yield f'  return <div className="{state}-{dice.any(_STATES)}">{{{call}.name}}</div>;'
        yield "}"
        yield ""


def documents(dice: Dice, names: Project) -> Iterator[str]:
    """Yield a page of documentation."""
    while True:
        yield f"## {dice.any(names.functions).replace('_', ' ').capitalize()}"
        yield ""
        for _ in range(2 + dice.below(4)):
            yield " ".join(sentence(dice, names) for _ in range(2 + dice.below(4)))
        setting, path = dice.pick(names.settings), dice.pick(names.paths)
        yield f"- `{setting}` (default {dice.below(9000)}): see {path}"
        yield ""


def logs(dice: Dice, names: Project) -> Iterator[str]:
    """Yield the log of a service."""
    at = dice.below(80_000)
    while True:
        at += 1 + dice.below(40)
        day, hour = 1 + at // 3600 % 28, at // 60 % 24
        stamp = f"2026-03-{day:02}T{hour:02}:{at % 60:02}:{dice.below(60):02}.{dice.below(999):03}Z"
        level, service = dice.any(_LEVELS), dice.pick(names.services)
        tail = f"request_id={dice.hex(16)} took={dice.below(9000)}ms"
        if level == "ERROR":
            # Some text is not ASCII in every real log, and makes the whole text wider in memory.
            said = f"{sentence(dice, names)} \u2014 retried \u00d7{dice.below(9)}"
            tail = f"{dice.any(_ERRORS)}: {said}"
        yield f"{stamp} {level:5} [{service}] {dice.pick(names.functions)} {tail}"


def suite(dice: Dice, names: Project) -> Iterator[str]:
    """Yield a verbose test run."""
    done = 0.0
    while True:
        done = (done + dice.random()) % 100
        outcome = "FAILED" if dice.random() < 0.06 else "PASSED"
        test = f"{dice.any(names.paths)}::test_{dice.any(names.functions)}[{dice.below(900)}]"
        yield f"{test} {outcome} [{done:3.0f}%]"


def failures(dice: Dice, names: Project) -> Iterator[str]:
    """Yield tracebacks."""
    while True:
        yield "Traceback (most recent call last):"
        for _ in range(2 + dice.below(6)):
            line, name = dice.below(900), dice.any(names.functions)
            yield f'  File "/srv/app/{dice.pick(names.paths)}", line {line}, in {name}'
            yield f"    {dice.any(names.functions)}(self, {name!r}, {dice.below(10_000)})"
        yield f"{dice.any(_ERRORS)}: {sentence(dice, names)}"
        yield ""


def matches(dice: Dice, names: Project, wanted: str) -> Iterator[str]:
    """Yield what a search for a name prints."""
    while True:
        place = f"{dice.any(names.paths)}:{1 + dice.below(900)}"
        near = f"{dice.any(names.functions)}({dice.any(names.settings)})"
        yield f"{place}:    {wanted}({near}, {dice.below(99)})"


def diff(dice: Dice, names: Project) -> Iterator[str]:
    """Yield a diff of several files."""
    while True:
        path = dice.pick(names.paths)
        yield f"diff --git a/{path} b/{path}"
        yield f"index {dice.hex(9)}..{dice.hex(9)} 100644"
        line = dice.below(700)
        yield f"@@ -{line},{dice.below(30)} +{line},{dice.below(30)} @@ {dice.any(names.functions)}"
        for _ in range(3 + dice.below(14)):
            call = f"{dice.any(names.functions)}({dice.any(names.settings)}, {dice.below(999)})"
            yield f"{dice.any('+-  ')}    {call}"


def history(dice: Dice, names: Project) -> Iterator[str]:
    """Yield a log of commits."""
    while True:
        yield f"{dice.pick(names.commits)} {sentence(dice, names)}"


def listing(dice: Dice, names: Project) -> Iterator[str]:
    """Yield a long directory listing."""
    while True:
        day = f"Mar {1 + dice.below(28):>2} {dice.below(24):02}:{dice.below(60):02}"
        yield f"-rw-r--r--  1 app  app  {dice.below(90_000):>8} {day} {dice.any(names.paths)}"


def build(dice: Dice, names: Project) -> Iterator[str]:
    """Yield the output of package managers and compilers."""
    while True:
        version = f"{dice.below(9)}.{dice.below(30)}.{dice.below(20)}"
        package = f"{dice.any(names.functions).replace('_', '-')}"
        yield f"  Downloading {package}-{version}.tar.gz ({dice.below(9000)} kB)"
        if dice.random() < 0.2:
            where = f"{dice.pick(names.paths)}:{dice.below(900)}:{dice.below(80)}"
            yield f"{where}: warning: '{dice.any(names.functions)}' is deprecated since {version}"
        if dice.random() < 0.1:
            stage = f"[{dice.any(names.services)} {dice.below(9)}/9]"
            yield f" => {stage} RUN make {package}  {dice.random():.1f}s"


def records(dice: Dice, names: Project) -> Iterator[str]:
    """Yield one JSON object a line, as an interface returns them."""
    while True:
        yield json.dumps(
            {
                "id": f"{dice.any(names.services)}_{dice.hex(14)}",
                dice.any(names.functions): dice.below(1_000_000),
                "status": dice.any(_STATES),
                "amount": round(dice.random() * 9_000, 2),
                "tags": [dice.any(names.services) for _ in range(dice.below(4))],
                "meta": {"retry": dice.below(5), "source": dice.pick(names.paths), "ok": True},
            }
        )


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
