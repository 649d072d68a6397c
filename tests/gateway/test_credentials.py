"""After a whole run with credentials everywhere, none is in anything that the gateway keeps."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import httpx2

from holdfast.gateway.tokens import TokenFile
from holdfast.ports import Listing
from holdfast.wiring import open_store
from tests.agents.answers import Answer
from tests.gateway.scripted import (
    CUT,
    PATHS,
    Received,
    Script,
    answer,
    question,
    stream,
    streamed,
    upstream,
)

HEADERS = (
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "cookie",
    "proxy-authorization",
    "x-amz-security-token",
    "x-own-secret",
)
SERVE = """
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
provider = TracerProvider()
out = open(sys.argv.pop(1), "a", buffering=1)
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out)))
trace.set_tracer_provider(provider)
from holdfast.cli import main
main()
"""


class Secrets:
    """Makes credentials that are told apart, and remembers them."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}

    def __call__(self, where: str) -> str:
        self.made[where] = f"sk-{uuid4().hex}{uuid4().hex}"
        return self.made[where]


def troubled(received: Received) -> Script:
    """Answer well or badly, as the request wishes; an error quotes the credential it came with."""
    quoted = json.dumps([*received.headers, received.target, received.body.decode()]).encode()
    fits = (each for each, path in PATHS.items() if received.target.startswith(path[:12]))
    dialect = next(fits, "openai")
    said = streamed(dialect, Answer(1, "Port 4242."))
    match received.header("x-wish"):
        case "refused":
            return answer(quoted, "401 Unauthorized")
        case "failed":
            return answer(quoted, "500 Oops")
        case "cut":
            return stream(*said[:3], 0.1, CUT)
        case "gone":
            return [CUT]
        case _:
            return stream(*said)


def start(home: Path, spans: Path, errors: Path, *flags: str) -> tuple[subprocess.Popen[str], str]:
    known = {"HOLDFAST_HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SERVE, str(spans), "serve", "--port", "0", "--json", "-v"]
    with errors.open("a") as log:
        process = subprocess.Popen(
            [*command, *flags],
            env={**os.environ, **known},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    return process, json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")["url"]


def ask_everything(url: str, secret: Secrets, token: str) -> str:
    """Send requests with credentials everywhere; return what the gateway itself said."""
    said: list[str] = []
    with httpx2.Client(base_url=url, timeout=30) as client:
        for dialect, path in PATHS.items():
            for wish in ("", "refused", "failed", "cut", "gone"):
                headers = {name: secret(f"{dialect} {wish} {name}") for name in HEADERS}
                headers |= {"x-holdfast-token": token, "x-wish": wish}
                own = secret(f"{dialect} {wish} body")
                body = question(dialect, f"{dialect} {wish}", api_key=own, metadata={"key": own})
                key = f"{'&' if '?' in path else '?'}key={secret(f'{dialect} {wish} query')}"
                try:
                    found = client.post(f"{path}{key}", json=body, headers=headers)
                except httpx2.HTTPError:
                    continue
                if wish == "gone":
                    said.append(found.text)
        headers = {name: secret(f"other {name}") for name in HEADERS}
        for path in ("/v1/models", f"/v1/files/{secret('path')}", "/api/sessions", "/metrics"):
            client.get(f"{path}?key={secret(f'{path} query')}", headers=headers)
            more = {**headers, "x-holdfast-token": token}
            found = client.get(path, headers=more)
            said.append(found.text if path.startswith(("/api", "/m")) else "")
        for content in (b"{" + secret("broken").encode(), secret("deep").encode() * 2_000_000):
            more = {**headers, "x-holdfast-token": token}
            said.append(client.post(PATHS["openai"], content=content, headers=more).text)
        more = {**headers, "host": "evil.example", "x-holdfast-token": token}
        said.append(client.get("/v1/models", headers=more).text)
    with socket.create_connection((url[7:].split(":")[0], int(url.rpartition(":")[2]))) as raw:
        raw.sendall(f"GET / HTTP/1.1\r\nauthorization {secret('raw')}\r\n\r\n".encode())
        said.append(raw.recv(65536).decode("latin-1"))
    return "\n".join(said)


def test_no_credential_is_in_store_tree_logs_errors_figures_or_spans(tmp_path: Path) -> None:
    home, spans, errors = tmp_path / "home", tmp_path / "spans", tmp_path / "errors"
    secret = Secrets()
    token = TokenFile(home / "tokens.json").add("alice", "alice", 1)
    with upstream(troubled) as up:
        own = up.url.replace("http://", f"http://:{secret('configured')}@")
        flags = ("--upstream", own)
        process, url = start(home, spans, errors, *flags)
        said = ask_everything(url, secret, token)
        # A crash in the middle of a stream, and another start on what it left.
        with httpx2.stream(
            "POST",
            f"{url}{PATHS['anthropic']}",
            json=question("anthropic", "crash"),
            headers={"authorization": secret("crash"), "x-holdfast-token": token},
        ) as found:
            next(found.iter_raw())
            process.kill()
        process.communicate()
        process, url = start(home, spans, errors, *flags, "--strict")
        said += ask_everything(url, secret, token)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=40)
    kept = {str(each): each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    kept["answers of the gateway"] = said.encode()
    # Messages are packed in the file.
    with closing(open_store(home / "profiles" / "alice" / "holdfast.db", {})) as store:
        sessions = [*store.sessions(Listing(limit=1000))]
        read = [(each, *store.since(each.id, 0)) for each in sessions]
        kept["the store, unpacked"] = repr(read).encode()
    # What is searched is not empty, and has what was said.
    assert {"home/profiles/alice/holdfast.db", "home/profiles/alice/gateway.db"} <= {
        str(Path(each).relative_to(tmp_path)) for each in kept if each.startswith("/")
    }
    assert kept["the store, unpacked"].count(b"anthropic failed") == 1
    assert kept[str(errors)].count(b'"message": "request"') > 40
    assert kept[str(spans)].count(b'"holdfast.request"') > 40
    assert kept[str(home / "gateway-audit.jsonl")].count(b"\n") > 40
    assert b"holdfast_gateway_requests_total" in kept["answers of the gateway"]
    assert len(secret.made) > 200
    everything = {each: where for where, each in secret.made.items()} | {token: "our own token"}
    pattern = re.compile("|".join(map(re.escape, everything)).encode())
    assert {
        (place, everything[found.decode()])
        for place, content in kept.items()
        for found in pattern.findall(content)
    } == set()
