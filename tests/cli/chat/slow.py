"""A provider that streams some words and then takes its time."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.providers.provider import Provider, Request
from tests.providers.streams import chunk, usage_chunk


@contextmanager
def slow_provider(*texts: str, pause: float) -> Generator[Provider]:
    """Serve an answer with a pause after each text; whoever leaves is let go."""
    state = Provider("")
    over = threading.Event()

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fields = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.requests.append(Request(self.path, fields, {}))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            try:
                for text in texts:
                    self.say(chunk(content=text))
                    over.wait(pause)
                self.say(chunk("stop"))
                self.say(usage_chunk())
                self.wfile.write(b"data: [DONE]\n\n")
            except OSError:
                return

        def say(self, piece: object) -> None:
            self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's own name
            """Say nothing: a test's output is its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        over.set()
        server.shutdown()
        thread.join()
        server.server_close()
