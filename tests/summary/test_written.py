import time

import pytest

from holdfast.summary.turns import written_files


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("sed -i 's/a b/c > d.x/' src/models.py", ("src/models.py",)),
        ("cd /a && sed -i.bak -e 's/x/y/' a.py b.py && ls", ("a.py", "b.py")),
        ("cat <<'EOF' > repro.py\nif a > b.c: pass\nEOF\npython repro.py", ("repro.py",)),
        ("cat > src/a.ts << EOF\nit's\nEOF\necho x >> notes.txt", ("src/a.ts", "notes.txt")),
        ("make 2>&1 | tee -a out/build.log", ("out/build.log",)),
        ("python3 - <<'PY'\nopen('a/b.py', 'w').write('x')\nPY", ("a/b.py",)),
        ("python -c \"from pathlib import Path; Path('c.md').write_text('x')\"", ("c.md",)),
    ],
)
def test_a_command_names_the_files_it_writes(command: str, files: tuple[str, ...]) -> None:
    assert written_files(command) == files


@pytest.mark.parametrize(
    "command",
    [
        "ls > /dev/null 2>&1",
        "sed -n '1,3p' a.py",
        "awk '{ if ($1 > 3.5) print }' table",
        "echo a=>b.c; x->y.z",
        "cat > script.py.$N <<EOF\nopen('x.py', 'w')\nEOF",
        "cat a.py",
    ],
)
def test_other_commands_write_nothing(command: str) -> None:
    assert written_files(command) == ()


def test_hostile_commands_take_no_time() -> None:
    started = time.process_time()
    for command in (
        '"' + '\\\\"' * 9_000 + ">",
        "<<A\n" * 5_000 + ">",
        "sed -i " * 3_000,
        ">./" * 6_000,
    ):
        written_files(command)
    assert time.process_time() - started < 1.0


def test_more_documents_than_anyone_writes_are_not_all_read() -> None:
    documents = "cat <<EOF\nx\nEOF\n" * 200
    assert written_files(f"{documents}echo done > out.txt") in {("out.txt",), ()}
    assert written_files("cat <<EOF > a.txt\nx\nEOF\n" * 3) == ("a.txt",)
