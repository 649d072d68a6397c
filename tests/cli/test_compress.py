"""`holdfast compress`: the transcript, the report, the exit codes."""

import json
import stat
from pathlib import Path

import pytest

from holdfast.formats import read
from holdfast.transcript import newest_user
from tests.cli.running import REPOSITORY, SESSION, SMALL_WINDOW, launch, run
from tests.cli.stored import conversation, store_in

KEYS = [
    "outcome",
    "reason",
    "tokens_before",
    "tokens_after",
    "messages_before",
    "messages_after",
    "head",
    "folded",
    "tail",
    "cuts",
    "pruned",
    "summary",
    "audit",
    "warnings",
    "duration_ms",
]


@pytest.fixture
def short(tmp_path: Path) -> Path:
    file = tmp_path / "short.json"
    file.write_text('[\n\t{"role":"user",  "content":"hi"}]', "utf-8")
    return file


def test_a_long_session_is_folded_and_valid(tmp_path: Path) -> None:
    output = tmp_path / "smaller.json"
    ended = run("compress", str(SESSION), *SMALL_WINDOW, "-o", str(output))
    assert (ended.code, ended.output) == (0, b"")
    assert "folded" in ended.errors
    assert len(output.read_bytes()) < len(SESSION.read_bytes()) / 2
    assert run("validate", str(output), "--provider", "openai").code == 0


def test_the_report_has_the_stable_keys(tmp_path: Path) -> None:
    ended = run("compress", str(SESSION), *SMALL_WINDOW, "--report", "-", "-o", "/dev/null")
    assert (ended.code, list(json.loads(ended.output))) == (0, KEYS)
    report = json.loads(ended.output)
    assert report["outcome"] == "folded"
    assert report["tokens_after"] < report["tokens_before"]
    assert report["messages_before"] == report["head"] + report["folded"] + report["tail"]
    audit = report["audit"]
    assert 0 < audit["retained_by_summary"] <= audit["retained"] <= audit["statements"]
    assert sum(kind["retained"] for kind in audit["kinds"].values()) == audit["retained"]
    assert len(audit["lost"]) == min(audit["statements"] - audit["retained"], 200)


def test_json_is_the_report_on_standard_output(tmp_path: Path) -> None:
    as_json = run("compress", str(SESSION), "--json", "-o", str(tmp_path / "x"))
    assert list(json.loads(as_json.output)) == KEYS
    twice = run("compress", str(SESSION), "--json", "--report", "r.json", "-o", "x")
    assert twice.code == 2


def test_the_transcript_goes_to_standard_output(tmp_path: Path) -> None:
    output = tmp_path / "smaller.json"
    run("compress", str(SESSION), *SMALL_WINDOW, "-o", str(output))
    piped = run("compress", "-", *SMALL_WINDOW, stdin=SESSION.read_bytes())
    assert (piped.code, piped.output) == (0, output.read_bytes())


def test_nothing_to_do_is_byte_identical_and_exit_code_3(short: Path, tmp_path: Path) -> None:
    output = tmp_path / "same.json"
    ended = run("compress", str(short), "-o", str(output))
    assert (ended.code, output.read_bytes()) == (3, short.read_bytes())
    assert "unchanged" in ended.errors
    assert run("compress", str(short), "--to", "openai").output == short.read_bytes()


def test_nothing_to_do_is_still_converted(short: Path) -> None:
    ended = run("compress", str(short), "--to", "gemini")
    assert ended.code == 3
    assert json.loads(ended.output) == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


def test_a_fit_that_is_impossible_fails_and_writes_nothing(tmp_path: Path) -> None:
    output, report = tmp_path / "x.json", tmp_path / "report.json"
    ended = run("compress", str(SESSION), "--fit", "20", "-o", str(output), "--report", str(report))
    assert (ended.code, output.exists()) == (1, False)
    assert "the smallest possible fit is" in ended.errors
    assert json.loads(report.read_text("utf-8"))["outcome"] == "abandoned"


@pytest.mark.parametrize("fit", [600, 4_000, 20_000])
def test_a_fit_is_kept_and_the_newest_user_words_stay(fit: int) -> None:
    ended = run("compress", str(SESSION), "--fit", str(fit))
    before, after = read(SESSION.read_bytes()).transcript, read(ended.output).transcript
    newest = newest_user(before)
    assert newest is not None
    assert before[newest].text in ended.text.replace('\\"', '"')
    assert after
    weighed = run("inspect", "-", "--json", stdin=ended.output)
    assert json.loads(weighed.output)["tokens"] <= fit


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gemini-2.5-pro", "gpt-5"])
def test_a_fit_is_counted_by_the_model_that_the_file_names_as_inspect_counts_it(
    model: str, tmp_path: Path
) -> None:
    source, output = tmp_path / "held.json", tmp_path / "fits.json"
    messages = json.loads(SESSION.read_bytes())
    messages = messages if isinstance(messages, list) else messages["messages"]
    source.write_text(json.dumps({"model": model, "messages": messages}), "utf-8")
    ended = run("compress", str(source), "--fit", "4000", "-o", str(output), "--json")
    weighed = json.loads(run("inspect", str(output), "--json").output)["tokens"]
    assert weighed <= 4000
    assert json.loads(ended.output)["tokens_after"] == weighed


def test_the_window_of_a_stored_session_is_fitted_as_its_own_model_counts(home: Path) -> None:
    with conversation(store_in(home), 30, model="claude-sonnet-4-5") as chat:
        name = chat.id
    whole = json.loads(run("inspect", name, "--json").output)["tokens"]
    report = json.loads(run("compress", name, "--fit", "3000", "--dry-run", "--json").output)
    assert report["tokens_before"] == whole
    assert report["tokens_after"] <= 3000


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    output = tmp_path / "x.json"
    ended = run("compress", str(SESSION), *SMALL_WINDOW, "--dry-run", "-o", str(output))
    assert (ended.code, ended.output, output.exists()) == (0, b"", False)
    assert "folded" in ended.errors
    reported = run("compress", str(SESSION), *SMALL_WINDOW, "--dry-run", "--report", "-")
    assert json.loads(reported.output)["outcome"] == "folded"


def test_a_dry_run_asks_no_model() -> None:
    ended = run(
        "compress",
        str(SESSION),
        *SMALL_WINDOW,
        "--dry-run",
        "--summarizer",
        "gpt-6",
        "--report",
        "-",
    )
    assert json.loads(ended.output)["summary"]["origin"] == "deterministic"
    assert ended.errors.startswith("holdfast: a dry run asks no model")


def test_deterministic_and_none_are_the_same() -> None:
    outputs = {
        run("compress", str(SESSION), *SMALL_WINDOW, *summarizer).output
        for summarizer in ((), ("--summarizer", "none"), ("--summarizer", "deterministic"))
    }
    assert len(outputs) == 1


@pytest.mark.parametrize("to", ["openai", "responses", "anthropic", "gemini"])
def test_each_dialect_that_is_written_is_valid(to: str) -> None:
    ended = run("compress", str(SESSION), *SMALL_WINDOW, "--to", to)
    assert ended.code == 0
    verdict = run("validate", "-", "--provider", to, "--json", stdin=ended.output)
    assert (verdict.code, json.loads(verdict.output)["converted"]) == (0, False)


def test_several_files_go_to_a_folder(tmp_path: Path, short: Path) -> None:
    folder = tmp_path / "out"
    files = (str(SESSION), str(short))
    ended = run("compress", *files, *SMALL_WINDOW, "-o", f"{folder}/", "--report", "-")
    assert ended.code == 0
    assert sorted(each.name for each in folder.iterdir()) == ["agent_session.json", "short.json"]
    reports = json.loads(ended.output)
    assert [each["file"] for each in reports] == [str(SESSION), str(short)]
    assert [each["outcome"] for each in reports] == ["folded", "unchanged"]


def test_one_file_that_fails_does_not_stop_the_others(tmp_path: Path, short: Path) -> None:
    folder = tmp_path / "out"
    ended = run("compress", "missing.json", str(short), "-o", f"{folder}/")
    assert (ended.code, [each.name for each in folder.iterdir()]) == (1, ["short.json"])
    assert "cannot read missing.json" in ended.errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.json", "b.json"], "several files need a folder"),
        (["a.json", "b.json", "-o", "c.json"], "several files need a folder"),
        (["x/a.json", "y/a.json", "-o", "out/"], "two of the files are called a.json"),
        (["-", "-o", "out/"], "standard input has no name"),
        (["-", "-", "-o", "out/"], "standard input can be read only once"),
        (["a.json", "--report", "-"], "cannot both go to standard output"),
        (["a.json", "--threshold", "3"], "3 is not a number over 0 and up to 1"),
        (["a.json", "--context-length", "many"], "many is not a whole number"),
        (["a.json", "--target-ratio", "0.9"], "0.9 is not a number from 0.10 to 0.80"),
        (["a.json", "--protect-last", "0"], "0 is not a whole number from 1 to 1000000000"),
        (["a.json", "--fit", "0"], "'--fit': 0 is not a whole number from 1 on\n"),
        (["a.json", "--fit", "abc"], "'--fit': abc is not a whole number from 1 on\n"),
        (["a.json", "--summarizer", ""], "name a model, deterministic or none"),
        (["a.json", "--to", "klingon"], "--to"),
        (["a.json", "--format", "klingon"], "--format"),
        ([], "FILE"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(arguments: list[str], words: str) -> None:
    ended = run("compress", *arguments)
    assert ended.code == 2
    assert words in ended.errors


@pytest.mark.parametrize("output", ["missing/out/", "missing/out.json"])
def test_a_folder_above_the_output_is_not_made(tmp_path: Path, output: str) -> None:
    ended = run("compress", str(SESSION), "-o", f"{tmp_path}/{output}", *SMALL_WINDOW)
    said = f"holdfast: cannot write {tmp_path}/{output}: there is no such file or folder\n"
    assert (ended.code, ended.errors, list(tmp_path.iterdir())) == (1, said, [])


def test_a_session_that_cannot_be_written_is_written_as_openai_and_says_so(
    repository: Path,
) -> None:
    session = repository / "tests" / "fixtures" / "sessions" / "swe_agent.traj"
    plain = run("compress", str(session))
    told = "swe-agent can be read, not written: this is openai; --to chooses another"
    assert told in " ".join(plain.errors.split())
    chosen = run("compress", str(session), "--to", "openai")
    assert (plain.code, plain.output) == (chosen.code, chosen.output)
    assert "can be read, not written" not in chosen.errors


def test_an_existing_output_keeps_its_permissions_and_links(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old", "utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    run("compress", str(SESSION), "-o", str(link))
    assert (link.is_symlink(), stat.S_IMODE(real.stat().st_mode)) == (True, 0o640)
    assert real.read_text("utf-8") != "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.json", "real.json"]


def test_the_configuration_counts_and_flags_win(home: Path) -> None:
    (home / "config.yaml").write_text("model: {context_length: 32000}\n", "utf-8")
    by_file = run("compress", str(SESSION)).output
    assert by_file == run("compress", str(SESSION), *SMALL_WINDOW).output
    assert by_file != run("compress", str(SESSION), "--context-length", "64000").output


def test_a_summary_model_that_cannot_be_reached_leaves_the_deterministic_record() -> None:
    env = {"HOLDFAST_AUXILIARY_COMPRESSION_BASE_URL": "http://127.0.0.1:9/v1"}
    ended = run(
        "compress",
        str(SESSION),
        *SMALL_WINDOW,
        "--summarizer",
        "m",
        "--report",
        "-",
        "-o",
        "/dev/null",
        env=env,
    )
    report = json.loads(ended.output)
    assert (ended.code, report["outcome"], report["summary"]["origin"]) == (
        0,
        "folded",
        "deterministic",
    )
    assert report["warnings"]


def test_a_person_is_warned_once_and_not_by_the_log_too() -> None:
    env = {"HOLDFAST_AUXILIARY_COMPRESSION_BASE_URL": "http://127.0.0.1:9/v1"}
    ended = launch(
        *("compress", str(SESSION), *SMALL_WINDOW, "--summarizer", "m", "-o", "/dev/null"), env=env
    )
    assert ended.code == 0
    assert ended.errors.count("m is unavailable") == 1
    assert ended.errors.count("  warning   ") == 1


def test_the_real_sessions_are_valid_for_anthropic(shared: Path, tmp_path: Path) -> None:
    sessions = sorted((shared / "data" / "sessions" / "mini_swe_agent").glob("*.json"))
    assert sessions
    ended = run(
        "compress", *map(str, sessions), *SMALL_WINDOW, "--to", "anthropic", "-o", f"{tmp_path}/"
    )
    assert ended.code == 0
    for session in sessions:
        assert run("validate", str(tmp_path / session.name), "--provider", "anthropic").code == 0


def test_the_fixture_is_long_enough_to_be_due() -> None:
    inspected = json.loads(run("inspect", str(SESSION), *SMALL_WINDOW, "--json").output)
    assert inspected["tokens"] > inspected["context_length"]
    assert SESSION.is_relative_to(REPOSITORY)
