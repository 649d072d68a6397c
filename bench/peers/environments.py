"""Virtual environments for the peers, made once and kept outside version control."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from bench.report import REPOSITORY

_FOLDER = REPOSITORY / "bench" / ".peers"


class PeerFailed(Exception):
    """A peer's process ended with an error; the message is what it wrote last."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A library to compare with, and the script that puts it to work."""

    name: str
    requirement: str
    script: str = ""
    more: tuple[str, ...] = ()
    """What else is installed beside it."""

    @property
    def python(self) -> Path:
        """Return the interpreter of the peer's environment."""
        return _FOLDER / self.name / "bin" / "python"


HERMES = Peer("hermes", "hermes-agent==0.19.0", "hermes_work.py")
LANGCHAIN = Peer("langchain", "langchain-core==1.7.2", "langchain_work.py")
# With the faster parser of HTTP, which our servers run on too; its own extra leaves it out.
LITELLM = Peer("litellm", "litellm[proxy]==1.106.2", more=("httptools==0.9.0",))


def installed(peer: Peer) -> Peer:
    """Return the peer once its environment exists; the first time takes about a minute."""
    stamp = _FOLDER / f"{peer.name}.json"
    wanted = [peer.requirement, *peer.more]
    stamped = wanted if peer.more else peer.requirement
    if stamp.is_file() and json.loads(stamp.read_text("utf-8")) == stamped:
        return peer
    sys.stderr.write(f"installing {peer.requirement} into {_FOLDER.relative_to(REPOSITORY)}\n")
    venv.create(_FOLDER / peer.name, clear=True, with_pip=True)
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    _checked([str(peer.python), *install])
    stamp.write_text(json.dumps(stamped), "utf-8")
    return peer


def output(peer: Peer, *arguments: str) -> str:
    """Return what the peer's script prints; it sees no settings or keys of the user."""
    script = Path(__file__).resolve().parent / peer.script
    # -P keeps the modules beside the script from standing in for the peer's own.
    return _checked([str(peer.python), "-P", str(script), *arguments], home=_FOLDER / "home")


def _checked(command: list[str], home: Path | None = None) -> str:
    environment = dict(os.environ)
    if home is not None:
        home.mkdir(parents=True, exist_ok=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "HERMES_HOME": str(home / "hermes"),
            "PYTHONHASHSEED": "0",
        }
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise PeerFailed(f"{command[0]}: {done.stderr[-2000:]}")
    return done.stdout
