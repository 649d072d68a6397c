"""Flags win over the environment, the environment over the file, the file over defaults."""

from pathlib import Path

import pytest

from holdfast.config import Default, Environment, FileOrigin, Flag, Setting, load
from holdfast.errors import ConfigError

KEY = "compression.threshold"
VARIABLE = "HOLDFAST_COMPRESSION_THRESHOLD"


def test_each_source_wins_over_the_ones_before_it(tmp_path: Path) -> None:
    environ = {"HOLDFAST_HOME": str(tmp_path)}
    file = tmp_path / "config.yaml"
    seen = [load(environ).chosen[KEY]]
    file.write_text("compression:\n  threshold: 0.6\n", "utf-8")
    seen.append(load(environ).chosen[KEY])
    environ[VARIABLE] = "0.7"
    seen.append(load(environ).chosen[KEY])
    flag = Setting(KEY, 0.8, Flag("--threshold"))
    configuration = load(environ, [flag])
    assert [*seen, configuration.chosen[KEY]] == [
        Setting(KEY, 0.5, Default()),
        Setting(KEY, 0.6, FileOrigin(file, 2)),
        Setting(KEY, 0.7, Environment(VARIABLE)),
        flag,
    ]
    assert configuration.settings.compression.threshold == 0.8


def test_a_pattern_that_cannot_be_used_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("redaction:\n  extra_patterns: ['(']\n", "utf-8")
    with pytest.raises(ConfigError, match=r"^redaction.extra_patterns \(.*line 2\): '\('"):
        load({"HOLDFAST_HOME": str(tmp_path)})
