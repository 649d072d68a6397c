"""Settings are typed, flat under their keys, and agree with the policy about defaults."""

from holdfast.compaction import Policy
from holdfast.config import Settings
from holdfast.config.settings import CompressionSettings, assemble, flatten


def test_flattened_settings_assemble_to_the_same_settings() -> None:
    settings = Settings(compression=CompressionSettings(threshold=0.7, protect_last_n=4))
    assert assemble(flatten(settings)) == settings


def test_what_is_absent_has_its_default() -> None:
    assert assemble({"compression.threshold": 0.7}) == Settings(
        compression=CompressionSettings(threshold=0.7)
    )


def test_the_defaults_are_those_of_the_policy() -> None:
    policy, defaults = Policy(), CompressionSettings()
    assert defaults == CompressionSettings(
        threshold=policy.threshold,
        target_ratio=policy.target_ratio,
        protect_first_n=policy.protect_first_n,
        protect_last_n=policy.protect_last_n,
        abort_on_summary_failure=policy.abort_on_summary_failure,
        hygiene_threshold=policy.hygiene,
    )
