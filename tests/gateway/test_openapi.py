import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from holdfast.gateway.rest import ROUTES
from holdfast.gateway.tokens import TokenFile
from tests.cli.stored import compacted, conversation, store_in
from tests.gateway.serving import Client, serving

PROGRAMS = Path(sys.executable).parent


@pytest.fixture
def client(tmp_path: Path) -> Generator[Client]:
    home = tmp_path / "home"
    token = TokenFile(home / "tokens.json").add("reader", "reader", 1)
    compacted(store_in(home, "reader"))
    with conversation(store_in(home, "reader"), 2):
        pass
    with serving(home) as found:
        yield found.as_(token)


def test_the_document_is_valid_and_has_every_route(client: Client) -> None:
    validator = pytest.importorskip("openapi_spec_validator")
    document = client.get("/api/openapi.json").json
    validator.validate(document)
    described = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
    }
    assert described == {(route.method, route.path) for route in ROUTES}
    words = json.dumps(document)
    assert "NothingAsked" not in words
    for operations in document["paths"].values():
        for operation in operations.values():
            assert operation["summary"].endswith(".")
    for verb in ("rewind", "goal"):
        (operation,) = document["paths"][f"/api/sessions/{{id}}/{verb}"].values()
        assert "a client holds through the gateway" in operation["description"]


def test_a_client_generator_accepts_the_document(client: Client, tmp_path: Path) -> None:
    pytest.importorskip("openapi_python_client")
    document = tmp_path / "openapi.json"
    document.write_bytes(client.get("/api/openapi.json").content)
    done = subprocess.run(
        [
            PROGRAMS / "openapi-python-client",
            *("generate", "--path", document, "--meta", "none", "--fail-on-warning"),
            *("--output-path", tmp_path / "made"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
        # It formats what it writes.
        env={**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "made" / "api").rglob("[a-z]*.py"))) >= len(ROUTES)


def test_schemathesis_finds_nothing(client: Client, repository: Path, tmp_path: Path) -> None:
    pytest.importorskip("schemathesis")
    done = subprocess.run(
        [
            PROGRAMS / "schemathesis",
            *("--config-file", repository / "schemathesis.toml"),
            *("run", f"http://127.0.0.1:{client.port}/api/openapi.json"),
            *("-H", f"Authorization: {client.headers['authorization']}"),
            *("--max-examples", "3", "--phases", "coverage,fuzzing,stateful"),
            *("--suppress-health-check", "all", "--seed", "17", "--no-color"),
        ],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout[-6_000:]
