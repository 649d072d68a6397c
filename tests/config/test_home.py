"""The home directory follows the customs of each platform."""

from pathlib import Path

import pytest

from holdfast.config import config_file, home


def test_the_variable_wins() -> None:
    assert home({"HOLDFAST_HOME": "/srv/hold"}, "darwin") == Path("/srv/hold")


def test_a_relative_home_is_made_absolute() -> None:
    assert home({"HOLDFAST_HOME": "here"}) == Path.cwd() / "here"


@pytest.mark.parametrize(
    ("environ", "platform", "folder"),
    [
        ({"HOME": "/u"}, "linux", "/u/.config/holdfast"),
        ({"HOME": "/u", "XDG_CONFIG_HOME": "/x"}, "linux", "/x/holdfast"),
        ({"HOME": "/u", "XDG_CONFIG_HOME": "x"}, "linux", "/u/.config/holdfast"),
        ({"HOME": "/u"}, "darwin", "/u/Library/Application Support/holdfast"),
        ({"HOME": "/u", "APPDATA": "/roam"}, "win32", "/roam/holdfast"),
        ({"HOME": "/u"}, "win32", "/u/AppData/Roaming/holdfast"),
    ],
)
def test_each_platform_has_its_place(environ: dict[str, str], platform: str, folder: str) -> None:
    assert home(environ, platform) == Path(folder)


def test_the_file_lies_in_the_home_directory() -> None:
    assert config_file({"HOLDFAST_HOME": "/srv/hold"}) == Path("/srv/hold/config.yaml")
