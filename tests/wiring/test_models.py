"""Which model a name stands for."""

from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.errors import ConfigError, ModelMissing
from holdfast.providers.anthropic_model import AnthropicModel
from holdfast.providers.openai_model import OpenAIModel
from holdfast.wiring.models import is_local, local_model, model_of, provider_of
from tests.providers.provider import Reply, provider
from tests.providers.streams import said, spoken, streamed


@pytest.mark.parametrize(
    ("name", "provider_", "served"),
    [
        ("gpt-5", "auto", ("openai", "gpt-5")),
        ("claude-opus-4", "auto", ("anthropic", "claude-opus-4")),
        ("anthropic/claude-opus-4", "auto", ("anthropic", "claude-opus-4")),
        ("openai/claude-like", "auto", ("openai", "claude-like")),
        ("qwen3", "anthropic", ("anthropic", "qwen3")),
        ("meta/llama-4", "auto", ("openai", "meta/llama-4")),
        ("local", "auto", ("local", "local")),
        ("local/smollm2", "auto", ("local", "smollm2")),
        ("smollm2", "openai", ("openai", "smollm2")),
    ],
)
def test_a_name_says_who_serves_it_unless_somebody_else_does(
    name: str, provider_: str, served: tuple[str, str]
) -> None:
    assert provider_of(name, provider_) == served
    assert is_local(name, provider_) is (served[0] == "local")


def test_a_provider_that_there_is_not_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match="provider is 'acme'; allowed: auto, openai"):
        provider_of("gpt-5", "acme")


def test_models_are_made_for_their_providers() -> None:
    ours = model_of("gpt-5", context_length=400_000)
    assert isinstance(ours, OpenAIModel)
    assert (ours.name, ours.endpoint, ours.context_length) == ("gpt-5", "", 400_000)
    theirs = model_of("claude-opus-4", base_url="http://127.0.0.1:9")
    assert isinstance(theirs, AnthropicModel)
    assert theirs.endpoint == "http://127.0.0.1:9"


def test_a_server_s_key_comes_from_its_own_variable() -> None:
    environ = {"HOLDFAST_API_KEY": "k", "OPENAI_API_KEY": "sk-secret"}
    with provider(streamed(*spoken("ok"))) as server:
        said(model_of("local", base_url=f"{server.url}/v1", environ=environ))
        (request,) = server.requests
    assert request.headers["authorization"] == "Bearer k"
    assert request.fields["model"] == "local"


def test_a_local_model_that_is_unknown_or_not_here_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="there is no local model 'gpt-9'"):
        local_model("gpt-9")
    monkeypatch.setattr("holdfast.providers.local_model.find_spec", lambda _: None)
    with pytest.raises(ModelMissing, match="holdfast models pull smollm2"):
        model_of("local", environ={"HOLDFAST_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("name", "base_url", "provider_", "served"),
    [
        ("anthropic/claude-sonnet-4.5", "https://openrouter.ai/api/v1", "auto", "openai"),
        ("openai/gpt-5", "https://openrouter.ai/api/v1", "auto", "openai"),
        ("openai/gpt-5", "https://ai-gateway.vercel.sh/v1", "openai", "openai"),
        ("anthropic/claude-sonnet-4.5", "https://openrouter.ai/api", "anthropic", "anthropic"),
        ("deepseek-chat", "https://api.deepseek.com/anthropic", "auto", "anthropic"),
        ("claude-opus-5", "http://127.0.0.1:4000", "auto", "anthropic"),
        ("meta-llama/llama-4", "http://127.0.0.1:8000/v1", "auto", "openai"),
        ("local", "http://127.0.0.1:8000/v1", "auto", "openai"),
    ],
)
def test_at_an_address_of_one_s_own_a_name_is_sent_as_it_is_typed(
    name: str, base_url: str, provider_: str, served: str
) -> None:
    assert provider_of(name, provider_, base_url) == (served, name)


def test_at_a_provider_s_own_address_a_prefix_is_ours() -> None:
    found = provider_of("anthropic/claude-opus-5", "auto", "https://api.anthropic.com")
    assert found == ("anthropic", "claude-opus-5")


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1/messages"])
def test_no_address_gets_a_second_version(end: str) -> None:
    with provider(Reply(200, "{}")) as server:
        for each in ("anthropic", "openai"):
            base = f"{server.url}/api{end}" if each == "anthropic" else f"{server.url}/api/v1"
            with suppress(Exception):
                said(model_of("vendor/m", each, base))
    assert {request.path for request in server.requests} == {
        "/api/v1/messages",
        "/api/v1/chat/completions",
    }
