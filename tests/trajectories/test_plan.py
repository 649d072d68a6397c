"""The region that is replaced is the one that the specification describes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ConfigError
from holdfast.trajectories.compression import Fits, Region, Stuck, TrajectoryPolicy, plan_region
from holdfast.transcript import Role
from tests.trajectories.material import expected_region, stories

NAMES = {Role.SYSTEM: "system", Role.USER: "human", Role.ASSISTANT: "gpt", Role.TOOL: "tool"}
ROLES = {name: role for role, name in NAMES.items()}
POLICY = TrajectoryPolicy(target_tokens=300, summary_tokens=80)


@st.composite
def weighed(draw: st.DrawFn) -> tuple[list[Role], list[int]]:
    """Draw who speaks, in any order or as agents do, and what each turn weighs."""
    if draw(st.integers(0, 3)):
        roles = [ROLES[each.speaker] for each in draw(stories(longest=1, least=2))]
    else:
        roles = draw(st.lists(st.sampled_from(sorted(Role)), max_size=30))
    heaviest = draw(st.sampled_from([30, 120, 400]))
    size = len(roles)
    return roles, draw(st.lists(st.integers(0, heaviest), min_size=size, max_size=size))


policies = st.builds(
    TrajectoryPolicy,
    target_tokens=st.integers(101, 900),
    summary_tokens=st.integers(32, 100),
    protect_last=st.sampled_from([0, 1, 4, 4, 4, 9]),
)


def region_of(roles: list[Role], tokens: list[int], policy: TrajectoryPolicy) -> object:
    plan = plan_region(roles, tokens, policy)
    return (plan.start, plan.stop) if isinstance(plan, Region) else None


@given(weighed(), policies)
def test_the_region_is_the_one_of_the_specification(
    case: tuple[list[Role], list[int]], policy: TrajectoryPolicy
) -> None:
    roles, tokens = case
    expected = expected_region([NAMES[role] for role in roles], tokens, policy)
    assert region_of(roles, tokens, policy) == expected


@given(weighed(), policies)
def test_a_plan_says_what_its_region_weighs_and_why_there_is_none(
    case: tuple[list[Role], list[int]], policy: TrajectoryPolicy
) -> None:
    roles, tokens = case
    match plan_region(roles, tokens, policy):
        case Region(start, stop, weight):
            assert weight == sum(tokens[start:stop]) > policy.summary_tokens
        case Fits():
            assert sum(tokens) <= policy.target_tokens
        case Stuck():
            assert sum(tokens) > policy.target_tokens


@given(weighed(), policies)
def test_no_protected_turn_and_no_part_of_a_group_is_in_a_region(
    case: tuple[list[Role], list[int]], policy: TrajectoryPolicy
) -> None:
    roles, tokens = case
    plan = plan_region(roles, tokens, policy)
    if isinstance(plan, Region):
        taken = set(range(plan.start, plan.stop))
        assert not taken & {roles.index(role) for role in Role if role in roles}
        assert not taken & set(range(len(roles) - policy.protect_last, len(roles)))
        assert roles[plan.start] is not Role.TOOL
        assert plan.stop == len(roles) or roles[plan.stop] is not Role.TOOL


@given(weighed(), policies)
def test_a_region_that_is_not_the_last_possible_brings_the_trajectory_to_its_target(
    case: tuple[list[Role], list[int]], policy: TrajectoryPolicy
) -> None:
    roles, tokens = case
    plan = plan_region(roles, tokens, policy)
    if isinstance(plan, Region):
        after = sum(tokens) - plan.tokens + policy.summary_tokens
        more = plan_region(roles, [*tokens[:-1], tokens[-1] + 10_000], policy)
        assert isinstance(more, Region)
        assert after <= policy.target_tokens or (more.start, more.stop) == (plan.start, plan.stop)


def test_a_third_of_the_plans_that_are_drawn_have_a_region() -> None:
    drawn: list[bool] = []

    @settings(derandomize=True)
    @given(weighed(), policies)
    def draw(case: tuple[list[Role], list[int]], policy: TrajectoryPolicy) -> None:
        drawn.append(isinstance(plan_region(*case, policy), Region))

    draw()
    assert sum(drawn) * 3 >= len(drawn)


def plan_of(speakers: str, tokens: list[int], policy: TrajectoryPolicy = POLICY) -> object:
    letters = {"s": Role.SYSTEM, "h": Role.USER, "g": Role.ASSISTANT, "t": Role.TOOL}
    return plan_region([letters[each] for each in speakers], tokens, policy)


@pytest.mark.parametrize(
    ("speakers", "tokens", "plan"),
    [
        ("", [], Fits()),
        ("hg", [150, 150], Fits()),
        ("hg", [150, 151], Stuck()),
        ("shgtgtgtgtgtgt", [10] * 4 + [50] * 10, Region(4, 10, 300)),
        ("shgtgtgtgtgtgt", [10] * 4 + [30] * 10, Region(4, 8, 120)),
        # The first result of a tool comes late: it ends what can be replaced, with its call.
        ("shghghghgthghg", [10, 10, *[60] * 12], Region(3, 8, 300)),
        # Results of a call that is kept stay with it.
        ("shgtttgtgtgtgt", [10] * 4 + [50] * 10, Region(6, 10, 200)),
        # A call whose results are kept stays with them.
        ("shgtgtgtgttttt", [10] * 4 + [50] * 10, Region(4, 8, 200)),
        # What could go weighs no more than what would come.
        ("shgtghgtgt", [300, 10, 10, 10, 40, 40, 10, 10, 10, 10], Stuck()),
        ("shgtghgtgt", [300, 10, 10, 10, 40, 41, 10, 10, 10, 10], Region(4, 6, 81)),
    ],
)
def test_plans_by_example(speakers: str, tokens: list[int], plan: object) -> None:
    assert plan_of(speakers, tokens) == plan


def test_whoever_protects_nothing_has_everything_replaced() -> None:
    policy = TrajectoryPolicy(
        target_tokens=100, summary_tokens=32, protect_first=(), protect_last=0
    )
    assert plan_of("hghg", [90, 90, 90, 90], policy) == Region(0, 4, 360)


def test_the_defaults_are_those_of_the_specification() -> None:
    usual = TrajectoryPolicy()
    assert (usual.target_tokens, usual.summary_tokens, usual.protect_last) == (15_250, 750, 4)
    assert set(usual.protect_first) == set(Role)


@pytest.mark.parametrize(
    ("figures", "reason"),
    [
        ({"summary_tokens": 31}, "summary tokens are 31; allowed: 32 or more"),
        ({"target_tokens": 750}, "the target is 750 tokens; allowed: more than the 750"),
        ({"protect_last": -1}, "protect last is -1; allowed: 0 or more"),
    ],
)
def test_figures_that_cannot_be_met_are_refused(figures: dict[str, int], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        TrajectoryPolicy(**figures)  # pyright: ignore[reportArgumentType]
