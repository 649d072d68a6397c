"""A real model on this machine, asked through both SDKs over real HTTP."""

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from holdfast.errors import MissingExtra, ModelError, ModelMissing, ModelOverflow
from holdfast.ports import ChatModel, Finished, Prompt, Spoken
from holdfast.providers.local_model import LocalModel
from holdfast.providers.openai_model import OpenAIModel
from holdfast.tokens import window_from_error
from holdfast.wire import Body
from holdfast.wire.reply import read_reply
from tests.providers.local import local_file, local_model

WINDOW = 512


@pytest.fixture(scope="module", params=["openai", "anthropic"])
def model(request: pytest.FixtureRequest) -> Generator[LocalModel]:
    with local_model(WINDOW, dialect=request.param) as served:
        yield served


def prompt(words: str, limit: int | None = 8) -> Prompt:
    return Prompt(body=Body([{"role": "user", "content": words}]), max_tokens=limit)


def test_an_answer_streams_and_is_what_the_conversation_records(model: LocalModel) -> None:
    *deltas, last = model.stream(prompt("Name a color."))
    assert isinstance(last, Finished)
    spoken = "".join(delta.text for delta in deltas if isinstance(delta, Spoken))
    reply = read_reply(last.answer)
    assert spoken
    assert reply.messages[0].text == spoken
    assert reply.model == "smollm2"
    assert 0 < reply.usage.output_tokens <= 8
    assert reply.usage.prompt_tokens > 5


def test_the_same_beginning_is_read_from_the_cache(model: LocalModel) -> None:
    story = "The harbor reads its tide stations once a minute. " * 10
    first = read_reply(answer(model, prompt(story))).usage
    again = read_reply(answer(model, prompt(f"{story} Why?"))).usage
    assert again.cache_read_tokens > first.prompt_tokens // 2


def test_what_is_too_large_is_refused_with_the_true_window(model: LocalModel) -> None:
    with pytest.raises(ModelOverflow) as refused:
        answer(model, prompt("all work and no play " * 400))
    assert window_from_error(str(refused.value)) == WINDOW


def test_without_a_limit_an_answer_takes_an_eighth_of_the_window_at_most(
    model: LocalModel,
) -> None:
    usage = read_reply(answer(model, prompt("Count from one to one thousand.", None))).usage
    assert usage.output_tokens <= WINDOW // 8


def test_a_stopped_answer_leaves_the_server_free_for_the_next(model: LocalModel) -> None:
    stream = model.stream(prompt("Tell a long story.", 400))
    assert isinstance(next(stream), Spoken)
    stream.close()
    assert answer(model, prompt("Hi."))


def answer(model: ChatModel, asked: Prompt) -> dict[str, object]:
    *_, last = model.stream(asked)
    assert isinstance(last, Finished)
    return dict(last.answer)


def test_closing_stops_the_server_and_the_next_request_starts_it_again() -> None:
    model = local_model(512)
    assert model.endpoint == "local"
    url = model.base_url
    port = urlsplit(url).port or 0
    with socket.create_connection(("127.0.0.1", port), 5):
        pass
    plain = OpenAIModel("smollm2", base_url=f"{url}/v1")
    assert answer(plain, prompt("Hi.", 2))
    model.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), 5)
    assert answer(model, prompt("Hi.", 2))
    model.close()


def in_a_process(code: str, *arguments: str) -> str:
    """Return what a program of its own prints: what hangs in the server stops all of Python."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


def test_a_server_that_is_closed_at_once_has_ended() -> None:
    code = """
        import sys
        from pathlib import Path
        from holdfast.providers.local_model import LocalModel
        for _ in range(5):
            with LocalModel(Path(sys.argv[1]), context_length=512) as model:
                model.base_url
        print("closed")
    """
    assert in_a_process(code, str(local_file())) == "closed"


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_an_interrupt_while_a_model_loads_is_heard_when_it_has_loaded() -> None:
    code = """
        import os, signal, sys, threading
        from pathlib import Path
        from holdfast.providers.local_model import LocalModel
        signal.signal(signal.SIGINT, signal.default_int_handler)
        model = LocalModel(Path(sys.argv[1]), context_length=512)
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            model.base_url
        except KeyboardInterrupt:
            model.close()
            print("interrupted")
    """
    assert in_a_process(code, str(local_file())) == "interrupted"


def test_a_file_that_is_missing_or_no_model_is_a_sentence(tmp_path: Path) -> None:
    local_model(512)
    with pytest.raises(ModelMissing, match="there is no model file"):
        _ = LocalModel(tmp_path / "none.gguf").base_url
    (tmp_path / "bad.gguf").write_bytes(b"GGUF and then nothing")
    with pytest.raises(ModelError, match=r"bad\.gguf does not load"):
        _ = LocalModel(tmp_path / "bad.gguf").base_url


def test_a_missing_server_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[local\]'"):
        LocalModel(tmp_path / "model.gguf")
