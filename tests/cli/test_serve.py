"""`holdfast run` puts the gateway under an agent for one process, and touches none of its files."""

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from holdfast.cli.serve import AGENTS
from tests.agents.answers import Answer
from tests.cli.running import Ended, launch, run
from tests.gateway.scripted import Recorded, gateway, stream, streamed, upstream

AGENT = f"""#!{sys.executable}
import json, os, re, sys, urllib.request
given = {{name: value for name, value in os.environ.items() if "HOLDFAST" not in name}}
told = json.dumps(given) + " ".join(sys.argv) + "".join(
    open(each).read() for each in sys.argv if each.endswith("holdfast.js"))
url = re.search(r"http://127[.]0[.]0[.]1:[0-9]+", told)[0]
body = {{"model": "m1", "stream": True, "max_tokens": 9,
        "messages": [{{"role": "user", "content": "Which port?"}}]}}
request = urllib.request.Request(url + "/v1/messages", json.dumps(body).encode(),
    {{"content-type": "application/json", "x-api-key": "sk-own"}})
answer = urllib.request.urlopen(request)
print(json.dumps({{"url": url, "arguments": sys.argv[1:], "environ": dict(os.environ),
    "session": answer.headers["x-holdfast-session"], "said": answer.read().decode()}}))
sys.exit(7)
"""
SAID = stream(*streamed("anthropic", Answer(1, "Port 8787.")))


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Return what runs a small agent of that name, which asks once and says what it was given."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def started(name: str, *arguments: str, **environ: str) -> Ended:
        program = folder / name
        program.write_text(AGENT)
        program.chmod(0o755)
        for variable, value in environ.items():
            monkeypatch.setenv(variable, value)
        return launch("run", name, *arguments, env={"PATH": str(folder)})

    return started


@pytest.mark.parametrize("name", ["claude", "codex", "pi", "opencode", "qwen", "gemini"])
def test_an_agent_is_pointed_at_a_gateway_that_ends_with_it(
    agent: Callable[..., Ended], name: str
) -> None:
    with upstream(SAID) as server:
        ended = agent(
            name, "-p", "--json", "Which port?",
            HOLDFAST_GATEWAY_PORT="0", HOLDFAST_GATEWAY_UPSTREAMS=json.dumps([server.url]),
        )  # fmt: skip
    assert ended.code == 7, ended.errors
    told = json.loads(ended.output)
    assert told["arguments"][-3:] == ["-p", "--json", "Which port?"]
    assert "Port 8787." in told["said"]
    assert told["session"]
    (line,) = ended.errors.splitlines()
    assert f"started a gateway on {told['url']}, which ends with {name}" in line
    assert server.requests[0].header("x-api-key") == "sk-own"
    parts = urlsplit(told["url"])
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((parts.hostname, parts.port), 1)
    kept = run("search", "port", "--json")
    assert "Which port?" in kept.text


def test_a_gateway_that_runs_is_used_and_left_running(agent: Callable[..., Ended]) -> None:
    with upstream(SAID) as server, gateway(server, Recorded().turns) as serving:
        ended = agent("claude", HOLDFAST_GATEWAY_PORT=serving.url.rpartition(":")[2])
        assert ended.code == 7, ended.errors
        assert f"uses the gateway on {serving.url}" in ended.errors
        assert json.loads(ended.output)["environ"]["ANTHROPIC_BASE_URL"] == serving.url
        assert serving.client.get("/healthz").status_code == 200


def test_requests_go_on_to_the_server_that_the_agent_was_pointed_at_before(
    agent: Callable[..., Ended],
) -> None:
    with upstream(SAID) as server:
        ended = agent("claude", HOLDFAST_GATEWAY_PORT="0", ANTHROPIC_BASE_URL=server.url)
    assert ended.code == 7, ended.errors
    assert [each.target for each in server.requests] == ["/v1/messages"]


def test_a_port_that_another_program_has_is_left_to_it(agent: Callable[..., Ended]) -> None:
    with upstream(SAID) as server, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = agent("claude", HOLDFAST_GATEWAY_PORT=str(port), ANTHROPIC_BASE_URL=server.url)
    assert ended.code == 7, ended.errors
    assert not json.loads(ended.output)["url"].endswith(f":{port}")


def test_an_agent_that_is_not_installed_is_named(tmp_path: Path) -> None:
    ended = launch("run", "claude", env={"PATH": str(tmp_path)})
    assert (ended.code, "claude is not on the path" in ended.errors) == (1, True)


@pytest.mark.parametrize("name", AGENTS)
def test_the_setting_of_each_agent_names_the_configured_address(name: str) -> None:
    ended = run("serve", "--port", "9000", "--print-env", name)
    assert (ended.code, "http://127.0.0.1:9000" in ended.text) == (0, True)
    told = json.loads(run("serve", "--print-env", name, "--json").output)
    assert told["agent"] == name
    assert any(told[each] for each in ("environment", "arguments", "file"))
