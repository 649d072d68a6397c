"""What is told of each request to whoever runs the gateway."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from holdfast.gateway.request_log import RequestLog
from tests.agents.answers import Answer
from tests.gateway.scripted import (
    Gateway,
    Recorded,
    answer,
    gateway,
    stream,
    streamed,
    upstream,
)
from tests.gateway.test_store_faults import served

SAID = Answer(1, "Port 4242.")
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def all_written(here: Gateway, count: int) -> None:
    """Wait until so many requests have ended: a client has its answer a little earlier."""
    while f'_requests_total{{dialect="openai",status="200"}} {count}' not in (
        here.client.get("/metrics").text
    ):
        pass


def test_a_request_is_a_json_line_with_how_it_was_recognized_and_without_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "holdfast.gateway")
    with (
        upstream(stream(*streamed("openai", SAID))) as up,
        gateway(up, Recorded().turns) as here,
    ):
        found = [here.post("openai") for _ in range(2)]
        all_written(here, 2)
    lines = [vars(each)["fields"] for each in caplog.records if each.message == "request"]
    assert [each.pop("request") for each in lines] == [
        each.headers["x-holdfast-request"] for each in found
    ]
    times = [(each.pop("added_ms"), each.pop("milliseconds")) for each in lines]
    assert all(0 < added < spent for added, spent in times)
    same = {
        "method": "POST",
        "path": "/v1/chat/completions",
        "dialect": "openai",
        "tenant": "",
        "model": "m1",
        "session": found[0].headers["x-holdfast-session"],
        "status": 200,
        "is_recorded": True,
    }
    tokens = [each.pop("tokens") for each in lines]
    assert all(tokens)
    assert lines == [{**same, "recognized": "root"}, {**same, "recognized": "retry"}]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_serve_writes_lines_whatever_the_number_of_workers(tmp_path: Path, workers: str) -> None:
    with served(tmp_path, "--verbose", "--workers", workers) as here:
        asked = ""
        for _ in range(100):
            try:
                asked = here.ask("Which port?").headers["x-holdfast-request"]
                break
            except httpx2.HTTPError:
                pass
        assert here.process.stderr is not None
        lines = map(json.loads, iter(here.process.stderr.readline, ""))
        line = next(each for each in lines if each.get("request") == asked)
        assert (line["level"], line["message"], line["status"]) == ("info", "request", 200)
        assert (line["tenant"], line["recognized"]) == ("default", "root")
        assert line["time"].endswith("+00:00")
    audit = json.loads((tmp_path / "gateway-audit.jsonl").read_text("utf-8"))
    assert audit["request"] == asked


def test_a_request_is_a_span_of_the_trace_that_its_client_names() -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    said = stream(*streamed("openai", SAID))
    with upstream(said, answer(b"oops", "500 Oops")) as up, gateway(up, Recorded().turns) as here:
        here.app.proxy.log = RequestLog(provider.get_tracer("test"))
        found = here.post("openai", headers={"traceparent": PARENT})
        all_written(here, 1)
        assert up.requests[0].header("traceparent") == PARENT
        here.post("anthropic")
        while len(kept.get_finished_spans()) < 2:
            pass
    first, second = kept.get_finished_spans()
    assert first.name == "POST openai"
    assert first.kind is SpanKind.SERVER
    assert first.parent is not None
    assert f"{first.parent.trace_id:x}" in PARENT
    told = dict(first.attributes or {})
    assert told["holdfast.request"] == found.headers["x-holdfast-request"]
    assert (told["holdfast.recognized"], told["holdfast.model"]) == ("root", "m1")
    assert "Which port?" not in first.to_json()
    assert second.parent is None
    assert second.status.status_code is StatusCode.ERROR


def test_nothing_of_opentelemetry_is_loaded_where_it_is_not_installed() -> None:
    program = (
        "import sys; from importlib.machinery import PathFinder\n"
        "from holdfast.gateway.request_log import tracer\n"
        "sys.meta_path = [each for each in sys.meta_path if each is not PathFinder]\n"
        "print(tracer(), 'opentelemetry' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "None False\n"


def test_a_trace_in_the_log_has_no_credential() -> None:
    key = f"sk-proj-{uuid4().hex}{uuid4().hex}"
    program = (
        "import logging; from holdfast.gateway.request_log import log_to_stderr\n"
        "log_to_stderr(requests=False); log = logging.getLogger('holdfast.gateway')\n"
        f"key = '{key}'\n"
        "try: raise ValueError(f'cannot send Authorization: Bearer {key}')\n"
        "except ValueError as error: log.exception('failed with %s', key)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
    )
    line = json.loads(told.stderr)
    assert "ValueError" in line["trace"]
    assert key not in told.stderr.decode()
