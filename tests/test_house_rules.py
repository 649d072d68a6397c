"""The source keeps the house rules, and each rule has been seen to fire on code that breaks it."""

import pytest

import holdfast
from tests.house_rules import (
    FILE_LINES,
    FUNCTION_LINES,
    Module,
    Rule,
    core_calls_are_pure,
    core_values_are_frozen,
    file_is_short,
    functions_are_short,
    module_says_why,
    modules,
    parse,
    privates_stay_private,
    shared_class_names,
)

PUBLIC_NAMES = 30


def lines_of(count: int) -> str:
    return "\n".join(f"    value_{index} = {index}" for index in range(count))


# Each rule with code that breaks it and code that comes close and does not.
RULES: dict[Rule, tuple[str, str]] = {
    module_says_why: ("VALUE = 1", '"""Why."""'),
    file_is_short: ("\n" * (FILE_LINES + 1), "\n" * FILE_LINES),
    functions_are_short: (
        f"def long():\n{lines_of(FUNCTION_LINES)}",
        f'def fits():\n    """Two\n    lines."""\n{lines_of(FUNCTION_LINES - 1)}',
    ),
    privates_stay_private: ("getattr(engine, '_last')", "getattr(engine, '__name__')"),
    core_values_are_frozen: (
        "@dataclass(frozen=True, slots=False)\nclass Value: ...",
        "@dataclass(frozen=True, slots=True)\nclass Value: ...",
    ),
    core_calls_are_pure: ("datetime.now()", "from urllib.parse import urlsplit\nre.compile('now')"),
}

# A rule with several ways to be broken shows each of them.
MORE_BAD: list[tuple[Rule, str]] = [
    (privates_stay_private, "from holdfast.wire import _merge"),
    (privates_stay_private, "setattr(engine, '_last', 1)"),
    (core_values_are_frozen, "@dataclass\nclass Value: ..."),
    (core_calls_are_pure, "open('file')"),
    (core_calls_are_pure, "import urllib.request"),
    (core_calls_are_pure, "from urllib.request import urlopen"),
]


@pytest.fixture(scope="module")
def source() -> tuple[Module, ...]:
    """Return the source, parsed once and let go: its trees would slow every later collection."""
    return tuple(modules())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_source_keeps_every_rule(source: tuple[Module, ...], rule: Rule) -> None:
    breaches = [f"{module.name}: {found}" for module in source for found in rule(module)]
    assert not breaches, "\n".join(breaches)


@pytest.mark.parametrize(
    ("rule", "bad"), [(rule, bad) for rule, (bad, _) in RULES.items()] + MORE_BAD
)
def test_a_rule_fires_on_code_that_breaks_it(rule: Rule, bad: str) -> None:
    assert list(rule(parse("holdfast.wire.sample", bad)))


@pytest.mark.parametrize(("rule", "good"), [(rule, good) for rule, (_, good) in RULES.items()])
def test_a_rule_is_quiet_on_code_that_keeps_it(rule: Rule, good: str) -> None:
    assert list(rule(parse("holdfast.wire.sample", good))) == []


def test_rules_for_the_core_leave_the_shell_alone() -> None:
    shell = parse("holdfast.cli.sample", "print(datetime.now())\n@dataclass\nclass Draft: ...")
    assert [*core_calls_are_pure(shell), *core_values_are_frozen(shell)] == []


def test_the_front_door_is_narrow() -> None:
    assert 0 < len(holdfast.__all__) <= PUBLIC_NAMES


def test_a_public_class_name_stands_for_one_class(source: tuple[Module, ...]) -> None:
    assert shared_class_names(source) == {}


def test_two_classes_of_one_name_are_noticed() -> None:
    twins = [parse(f"holdfast.{name}", "class Twin: ...") for name in ("one", "two")]
    assert shared_class_names(twins) == {"Twin": ["holdfast.one", "holdfast.two"]}
