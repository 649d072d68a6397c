"""Where engines are found, in which order, and what a plug-in may offer."""

import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from holdfast import ContextEngine, register_context_engine
from holdfast.engines import registry
from holdfast.engines.registry import engine_in, find_engine, known_engines, twin
from holdfast.errors import ConfigError
from tests.engines.plugins import Tail

ENGINE = """
class Mine({base}):
    name = "mine"
    came_from = "{mark}"
    def update_from_response(self, usage): ...
    def should_compress(self, prompt_tokens=None): return False
    def compress(self, messages, current_tokens=None, focus_topic=None): return messages
"""
IMPORT = "from holdfast import ContextEngine\n"


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", {})


@pytest.fixture
def site(tmp_path: Path) -> Generator[Path]:
    """Return a folder of installed packages, one of which lists an engine."""
    place = tmp_path / "site"
    listed = place / "somebody-1.0.dist-info"
    listed.mkdir(parents=True)
    (listed / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n")
    (listed / "entry_points.txt").write_text("[holdfast.engines]\nmine = somebody_engine:Mine\n")
    code = IMPORT + ENGINE.format(base="ContextEngine", mark="entry point")
    (place / "somebody_engine.py").write_text(code)
    sys.path.insert(0, str(place))
    yield place
    sys.path.remove(str(place))
    sys.modules.pop("somebody_engine", None)


def plugin(home: Path, code: str, name: str = "mine") -> Path:
    folder = home / "plugins" / "context_engine" / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(code)
    return folder


def made(name: str, home: Path | None) -> object:
    source = find_engine(name, home)
    assert source is not None
    return source.make()


def came_from(name: str, home: Path | None) -> object:
    return getattr(made(name, home), "came_from", None)


class Registered(Tail):
    name = "mine"  # type: ignore[assignment]
    came_from = "registration"


def test_a_folder_comes_before_an_entry_point_and_that_before_a_registration(
    tmp_path: Path, site: Path
) -> None:
    register_context_engine(Registered)
    code = IMPORT + ENGINE.format(base="ContextEngine", mark="folder")
    folder = plugin(tmp_path / "home", code)
    assert came_from("mine", tmp_path / "home") == "folder"
    (folder / "__init__.py").unlink()
    assert came_from("mine", tmp_path / "home") == "entry point"
    (site / "somebody-1.0.dist-info" / "entry_points.txt").unlink()
    assert came_from("mine", tmp_path / "home") == "registration"
    registry.register_context_engine(Tail())
    assert find_engine("yours", tmp_path) is None
    assert known_engines(tmp_path / "home") == ("mine", "tail")


@pytest.mark.parametrize(
    "code",
    [
        IMPORT + ENGINE + "def register(ctx): ctx.register_context_engine(Mine())",
        IMPORT
        + ENGINE
        + "def register(ctx): ctx.register_command('x'); ctx.register_context_engine(Mine)",
        IMPORT + ENGINE,
        IMPORT + "class Common(ContextEngine): ...\n" + ENGINE.replace("{base}", "Common"),
        ENGINE.replace("({base})", "") + "def create(): return Mine()",
        ENGINE.replace("({base})", "") + "engine = Mine()",
        ENGINE.replace("({base})", "") + "engine = Mine",
        "from agent.context_engine import ContextEngine\n" + ENGINE,
    ],
    ids=[
        *("register an object", "register a class", "a subclass", "a subclass of a subclass"),
        *("create", "an engine", "a class as engine", "written for another agent"),
    ],
)
def test_a_folder_may_offer_its_engine_in_any_usual_way(code: str, tmp_path: Path) -> None:
    plugin(tmp_path, code.replace("{base}", "ContextEngine").replace("{mark}", "folder"))
    one, other = made("mine", tmp_path), made("mine", tmp_path)
    assert getattr(one, "came_from", None) == "folder"
    assert one is not other
    assert "agent" not in sys.modules


def test_files_of_a_plug_in_import_each_other(tmp_path: Path) -> None:
    folder = plugin(tmp_path, "from .deep import Mine\n")
    code = IMPORT + ENGINE.format(base="ContextEngine", mark="a file beside it")
    (folder / "deep.py").write_text(code)
    assert came_from("mine", tmp_path) == "a file beside it"


def test_a_plug_in_that_did_not_import_is_tried_anew(tmp_path: Path) -> None:
    folder = plugin(tmp_path, "import nothing_of_that_name\n")
    with pytest.raises(ModuleNotFoundError):
        made("mine", tmp_path)
    code = IMPORT + ENGINE.format(base="ContextEngine", mark="repaired")
    (folder / "__init__.py").write_text(code + "# longer than before\n")
    assert came_from("mine", tmp_path) == "repaired"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def register(ctx): ctx.register_tool()", r"no register\(ctx\)"),
        ("def register(ctx): ctx.teach()", "teach"),
        (
            IMPORT
            + ENGINE.format(base="ContextEngine", mark="")
            + ENGINE.format(base="ContextEngine", mark="").replace("Mine", "Other"),
            r"several engines \(Mine, Other\)",
        ),
    ],
)
def test_what_has_no_engine_or_several_is_refused(code: str, said: str, tmp_path: Path) -> None:
    plugin(tmp_path, code)
    with pytest.raises((ConfigError, AttributeError), match=said):
        made("mine", tmp_path)


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    plugin(tmp_path, IMPORT + ENGINE.format(base="ContextEngine", mark=""), "mine")
    assert find_engine("../context_engine/mine", tmp_path) is None


def test_nothing_takes_the_place_of_the_default_engine(tmp_path: Path) -> None:
    plugin(tmp_path, IMPORT + ENGINE.format(base="ContextEngine", mark=""), "compressor")
    assert find_engine("compressor", tmp_path) is None
    assert known_engines(tmp_path) == ()
    with pytest.raises(ConfigError, match="default engine"):
        register_context_engine(Tail, "compressor")


def test_an_engine_needs_a_name_to_be_registered() -> None:
    with pytest.raises(ConfigError, match="name="):
        register_context_engine(lambda: Tail())
    register_context_engine(lambda: Tail(), "short")
    assert isinstance(made("short", None), Tail)


def test_a_class_may_have_its_name_only_when_it_is_made() -> None:
    class Proper(Tail):
        @property
        def name(self) -> str:  # type: ignore[override]
            return "proper"

    register_context_engine(Proper)
    assert isinstance(made("proper", None), Proper)


class Reticent(Tail):
    @property
    def name(self) -> str:  # type: ignore[override]
        raise RuntimeError("not today")


@pytest.mark.parametrize("offer", [Reticent, Reticent()])
def test_an_engine_that_does_not_say_its_name_is_refused_in_a_sentence(offer: Any) -> None:
    with pytest.raises(ConfigError, match=r"does not say its name \(RuntimeError\)"):
        register_context_engine(offer)


def test_every_conversation_has_an_engine_of_its_own() -> None:
    engine = Tail()
    engine.compression_count = 3
    register_context_engine(engine)
    one, other = made("tail", None), made("tail", None)
    assert isinstance(one, Tail)
    assert one is not other
    assert one is not engine
    assert one.compression_count == 0


class Uncopyable(Tail):
    def __deepcopy__(self, memo: dict[int, object]) -> "Uncopyable":
        raise TypeError("it holds a connection")


def test_an_engine_that_cannot_be_copied_serves_one_conversation() -> None:
    engine = Uncopyable()
    assert engine_in(engine) is engine
    with pytest.raises(ConfigError, match="it holds a connection"):
        engine_in(engine)
    with pytest.raises(ConfigError, match="__deepcopy__"):
        twin(engine)


def test_a_callable_object_that_is_no_engine_makes_one() -> None:
    class Factory:
        def __call__(self) -> ContextEngine:
            return Tail()

    assert isinstance(engine_in(Factory()), Tail)
