"""Where the work stands: directory, branch, commits, what is changed, tested, failing, planned."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from functools import reduce
from itertools import dropwhile
from posixpath import join, normpath
from typing import TYPE_CHECKING

from holdfast.summary.actions import (
    COMMIT,
    CUT,
    FAILED,
    SHOWING,
    check_at,
    ending_of,
    is_check,
    shell_reads,
    short_path,
    verdict,
)
from holdfast.summary.statements import clip_words
from holdfast.summary.turns import unquoted
from holdfast.transcript.effects import Family, error_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from holdfast.summary.turns import Deed

_RECENT, _FAILURES, _LISTED, _ANSWER, _COMMAND = 160, 8, 8, 200, 120
"""How many deeds are looked at, failures and files told, and characters that say a file is new, and
of a command that failed."""

_CD = re.compile(r"(?:^|[;&\n(])\s{0,4}cd\s+([^\s;&|)]{1,200})")
_WHOLE = re.compile(r"[/~]|[A-Za-z]:")
_RESET = re.compile(r"\bcwd was reset to (\S{1,200})")
_GIT = re.compile(r"(?:^|[\s;&|(])(?:git|gh)\s")
_BRANCH = re.compile(
    r"^On branch (\S{1,100})|^Switched to (?:a new )?branch '([^'\n]{1,100})'"
    r"|^\[([^\s\]]{1,100})(?: \([^)\n]{0,40}\))? [0-9a-f]{7,40}\]",
    re.MULTILINE,
)
_COMMITS = re.compile(r"\bgit\b[^;&|\n]{0,80}\bcommit\b[^;&|\n]{0,80}")
_ADDS = re.compile(r"\bgit\b[^;&|\n]{0,80}\badd\b([^;&|\n]{1,400})")
_ALL = re.compile(r"\bcommit\b.{0,40} (?:-[a-z]{0,3}a[a-z]{0,3}\b|--all\b)")
_PUSHES = re.compile(
    r"\bgit\b(?:(?! stash )[^;&|\n]){0,40} push\b([^;&|\n]{0,400})|\bgh pr (?:create|merge)\b"
)
_REWRITES = re.compile(
    r"\bgit\b[^;&|\n]{0,80} (?:((?:--)?rebase|commit\b[^;&|\n]{0,200} --amend)\b([^;&|\n]{0,200})"
    r"|reset\b[^;&|\n]{0,80} (?:HEAD|@)(?:~(\d{0,3})|(\^{1,20}))(?![\d^]|\s+(?:-- )?[A-Za-z./]))"
)
"""What takes commits back or makes them anew; a reset of files does not."""
_KEEPS = re.compile(r"--(?:abort|quit|edit-todo)\b")
"""A rebase that was given up, or did not begin."""
_NO_PUSH = frozenset({"-n", "--dry-run", "-d", "--delete"})
_REFUSED = re.compile(r"^\s*! \[|^(?:\w{1,40}: )?(?:error|fatal|ERROR): ", re.MULTILINE)
_TAG = re.compile(r"refs/tags/|v?\d+(?:\.\d+)+")
_DELETES = re.compile(r"(?:^|[;&|\n(])\s{0,4}(?:git )?rm\s+(?:-{1,2}[\w-]+\s+)*([^;&|\n)]{1,400})")
_REVERTS = re.compile(
    r"\bgit\b(?: -C \S{1,200})? (checkout|restore|reset --hard|stash)\b([^;&|\n]{0,400})"
)
_STEPS = re.compile(r"&&|\|\||[;\n]")
_CHANGED, _UNCOMMITTED = "Changed", "Changed, not committed"
"""Of files where nobody was seen to commit anything, and where somebody was."""
_UNCHECKED, _UNPUSHED = "Changed since the last check", "Committed, not pushed"
_MORE = re.compile(r" and (\d+) more$")
_ASIDE = frozenset({"cd", "export", "source", "set", "echo", "true"})
"""Commands that are not what a command line is for."""
_NESTED = frozenset({"gh", "glab", "aws", "az", "gcloud", "docker", "kubectl", "terraform"})
"""Commands that are told by two words more."""
_RUNS = (["-m"], ["run"], ["exec"])
"""What stands between a program and what it runs."""
_TESTERS = frozenset("pytest test tests unittest jest vitest mocha rspec phpunit".split())
"""Checks that test the same, given the same file."""
_TOPICS = frozenset("make cmake ninja gradlew mvn tox nox ruff".split())
"""Checks that are told by a word more, which is no target."""
_NAMED = frozenset(
    """pytest jest vitest mocha rspec ctest unittest eslint flake8 mypy pyright basedpyright tsc
    clippy phpunit prettier gofmt rustfmt shellcheck golangci-lint""".split()
)
"""Checks that their name tells, whatever starts them."""
_VALUED = frozenset("-n -j -o -W --tb --maxfail --timeout --color".split())
"""Options of checks that are followed by a value, which is no target."""
_REDIRECTED = re.compile(r"\s[\d&]?>{1,2}\s*\S+")
_FILE = re.compile(r"(?:[\w.-]{1,100}/){0,20}[\w.-]{1,100}\.[A-Za-z]\w{0,7}\b")
_CREATED = re.compile(r"(?im)\b(?:creat(?:ed|ing)|new file|wrote new)\b|^A ")


class Files:
    """Files as the deeds of a session left them, in the order in which they were last touched."""

    def __init__(self, deeds: Sequence[Deed], known: Mapping[str, str] | None = None) -> None:
        """Follow the deeds, from the lines on that an earlier record had."""
        self.deeds, self.known = deeds, known or {}
        known = self.known
        self.touched: dict[str, tuple[int, str]] = {}
        """How often each file was changed, and what was read of it last."""
        self.created: set[str] = set()
        self.uncommitted = _parted(known.get(_UNCOMMITTED) or known.get(_CHANGED, ""))
        self.unchecked = _parted(known.get(_UNCHECKED, ""))
        """Files that no check followed, each with the commit that has it, if any."""
        line = known.get(_UNPUSHED, "")
        self.unpushed = dict.fromkeys(filter(None, _MORE.sub("", line).split(", ")))
        self.untold = int(more[1]) if (more := _MORE.search(line)) else 0
        """How many older commits wait to be pushed, of which only the number is known."""
        self.gone: list[str] = []
        """What was deleted or reverted and was not written again."""
        self._stashed: list[dict[str, str]] = []
        self._committed: set[str] = set()
        self._staged: list[str] = []
        for deed in deeds:
            action, answer = deed.action, deed.ended.text if deed.ended else ""
            checks = is_check(deed)
            # What followed a commit may have failed.
            made = deed.failed and _COMMITS.search(action.target[:2_000]) and COMMIT.search(answer)
            failed = deed.failed and not made
            if deed.ended is None or (failed and not checks):
                continue
            changes = action.family is not Family.READ
            for path in action.files:
                edits, lines = self.touched.pop(path, (0, ""))
                self.touched[path] = (edits + changes, action.scope or lines)
                if changes and self.gone:
                    self.gone = [each for each in self.gone if not _is_among(path, [each])]
                if changes and _CREATED.search(answer[:_ANSWER]):
                    self.created.add(path)
                for pending in (self.uncommitted, self.unchecked) if changes else ():
                    pending.pop(short_path(path), None)
                    pending[short_path(path)] = ""
            for path, lines in shell_reads(deed).items() if not failed else ():
                whole = next((each for each in self.touched if each.endswith(f"/{path}")), path)
                edits, known_lines = self.touched.pop(whole, (0, ""))
                self.touched[whole] = (edits, lines or known_lines)
            if checks:
                self.unchecked.clear()
            if action.family is Family.SHELL and not failed:
                self._record(deed, action.target[:2_000], answer[:4_000])

    def _record(self, deed: Deed, command: str, answer: str) -> None:
        """Follow what a command deleted, took back, and did to the history of the repository."""
        # What a command only quotes or feeds to a program was not done.
        bare = unquoted(command)
        for deleting in _DELETES.finditer(bare):
            if "--cached" not in deleting[0]:
                named = _placed(deleting[1].split(), bare[: deleting.start() + 1])
                self._give_up(named, _written_in(deed, bare[deleting.end() :]))
        for reverting in _REVERTS.finditer(bare) if "git" in bare else ():
            verb, words = reverting[1], reverting[2].split()
            if verb == "stash":
                self._stash(words)
            elif not (verb == "checkout" and "Switched to" in answer):
                self._revert(verb, words, _written_in(deed, bare[reverting.end() :]))
        for added in _ADDS.findall(command):
            self._staged += added.split()
        made = self._rewrite(bare, answer) if _GIT.search(command) else []
        if found := _COMMITS.search(command):
            staged = ["*"] if _ALL.search(found[0]) else self._staged or ["*"]
            for path in [path for path in self.uncommitted if _is_among(path, staged)]:
                del self.uncommitted[path]
                self._committed.add(path)
                if path in self.unchecked:
                    self.unchecked[path] = made[-1][1] if made else "committed"
            self._staged = []
        if "working tree clean" in answer and "git" in command:
            self.uncommitted.clear()
        if any(_pushes(push[1] or "") for push in _PUSHES.finditer(bare)):
            # A hook may have said much before.
            said = deed.ended.text[-4_000:] if deed.ended else ""
            refused = deed.failed or _REFUSED.search(said)
            self.unpushed, self.untold = (self.unpushed, self.untold) if refused else ({}, 0)

    def _rewrite(self, command: str, answer: str) -> list[tuple[str, str, str]]:
        """Forget the commits that a command took back or made anew, and return those it made."""
        for verb, options, back, carets in _REWRITES.findall(command):
            taken = 1 if "--amend" in verb else int(back or 1) if not carets else len(carets)
            if "rebase" in verb:
                stays = _KEEPS.search(options) or "up to date" in answer or "CONFLICT" in answer
                taken = 0 if stays else len(self.unpushed) + self.untold
            self.untold -= min(self.untold, max(taken - len(self.unpushed), 0))
            for commit in [*reversed(self.unpushed)][:taken]:
                del self.unpushed[commit]
        made = COMMIT.findall(answer)
        self.unpushed |= {commit: None for _, commit, _ in made}
        return made

    def is_gone(self, path: str) -> bool:
        """Say whether a file was deleted or reverted, and not written again."""
        return _is_among(path, self.gone)

    def tests_gone(self, command: str) -> bool:
        """Say whether a command names a file that was deleted or reverted since."""
        return bool(self.gone) and any(map(self.is_gone, _FILE.findall(command)))

    def _revert(self, verb: str, words: Sequence[str], kept: Sequence[str]) -> None:
        """Forget what was changed and neither committed nor kept."""
        named = [word for word in words if not word.startswith("-")]
        if "--" in words and words[: words.index("--")] not in ([], ["HEAD"]):
            # What comes from another revision is changed.
            named = []
        elif verb == "checkout" and "--" not in words:
            # What has neither a dot nor a folder is a branch.
            is_new = "-b" in words or "-B" in words
            named = [word for word in named if not is_new and ("." in word or "/" in word)]
        elif verb == "restore" and "--staged" in words:
            named = []
        elif verb == "reset --hard":
            named = ["*"]
        back = [path for path in self.uncommitted if _is_among(path, named)]
        back = [path for path in back if not _is_among(path, kept)]
        for path in back:
            del self.uncommitted[path]
        # What was committed before is changed all the same.
        self._give_up([path for path in back if path not in self._committed], kept)

    def _stash(self, words: Sequence[str]) -> None:
        """Follow what was put aside, and whether it came back."""
        named = [word for word in words[1:] if not word.startswith("-")]
        if words[:1] in (["pop"], ["apply"], ["drop"]) and self._stashed:
            back = self._stashed[-1] if words[0] == "apply" else self._stashed.pop()
            if words[0] == "drop":
                self._give_up([*back], ())
            else:
                self.uncommitted |= back
        elif not words or words[0] in {"push", "save"} or words[0].startswith("-"):
            paths = named if words[:1] == ["push"] and named else ["*"]
            aside = {each: on for each, on in self.uncommitted.items() if _is_among(each, paths)}
            self._stashed.append(aside)
            self.uncommitted = {
                each: on for each, on in self.uncommitted.items() if each not in aside
            }

    def _give_up(self, named: Sequence[str], kept: Sequence[str]) -> None:
        """Forget files that were deleted or reverted, but for what was kept or committed before."""
        named = [each.removeprefix(CUT) for each in named]
        for files in (self.touched, self.uncommitted, self.unchecked):
            for path in [path for path in files if _is_among(path, named)]:
                if not _is_among(path, kept):
                    del files[path]
        self.gone += named


def _pushes(arguments: str) -> bool:
    """Say whether a push with these arguments takes commits along: no dry run, not only tags."""
    words = [word for word in arguments.split() if ">" not in word]
    named = [word for word in words if not word.startswith("-")][1:]
    only_tags = named[:1] == ["tag"] or all(map(_TAG.match, named)) if named else "--tags" in words
    return not only_tags and _NO_PUSH.isdisjoint(words)


def _placed(names: Sequence[str], before: str) -> list[str]:
    """Return what a command names, in the folder that it went to before; nobody knows all of it."""
    folder = next((found.rstrip("/") for found in reversed(_CD.findall(before))), "")
    placed = [f"{folder}/{name}" if folder and not _WHOLE.match(name) else name for name in names]
    return [name for name in placed if name.strip("./") != "*" and name.strip("./")]


def _written_in(deed: Deed, command: str) -> list[str]:
    """Return the files of a deed that the rest of its command writes."""
    return [path for path in deed.action.files if path.rpartition("/")[2] in command]


def _is_among(path: str, staged: Sequence[str]) -> bool:
    """Say whether what was staged has a file: all, a path, an end of one, a folder, a pattern."""
    path = path.removeprefix(CUT)
    return any(
        each in {"*", ".", "-A", "--all", "-u", ":/"}
        or f"/{path}".endswith(f"/{each}")
        or f"/{each}".endswith(f"/{path}")
        or f"/{each.rstrip('/')}/" in f"/{path}"
        or ("*" in each and fnmatch(path, f"*{each}"))
        for each in staged
    )


def state_lines(files: Files) -> dict[str, str]:
    """Return what commands and their output show of the state, by name; the newest counts.

    What an earlier record knew stands until something newer is known.
    """
    known, recent = files.known, files.deeds[-_RECENT:]
    found: dict[str, str] = {}
    commits: list[str] = []
    for deed in reversed(recent):
        if deed.action.family is not Family.SHELL:
            continue
        command = deed.action.target[:2_000].rstrip()
        if command.endswith("&") and not command.endswith("&&"):
            found.setdefault("Started in the background", clip_words(command, 120))
        if deed.ended is None:
            continue
        answer = deed.ended.text[:4_000]
        if "\n[" in f"\n{answer}" and _GIT.search(command):
            commits += [f"{commit} {title.strip()}" for _, commit, title in COMMIT.findall(answer)]
        if "Last check" not in found and is_check(deed) and not files.tests_gone(command):
            found["Last check"] = f"{clip_words(deed.action.target, 100)}{ending_of(deed)}"
    if commits:
        found["Commits"] = "; ".join(commits[:3])
    found = {**known, **_whereabouts(recent, known), **found}
    changed = _UNCOMMITTED if "Commits" in found else _CHANGED
    found |= {_CHANGED: "", _UNCOMMITTED: "", changed: _listed(files.uncommitted)}
    found[_UNCHECKED] = _listed(files.unchecked) if "Last check" in found else ""
    more = max(len(files.unpushed) - _LISTED, 0) + files.untold
    told = ", ".join([*files.unpushed][-_LISTED:])
    found[_UNPUSHED] = f"{told} and {more} more" if told and more else told
    return found


def _listed(paths: dict[str, str]) -> str:
    newest = [f"{path} ({commit})" if commit else path for path, commit in reversed(paths.items())]
    more = f" and {len(newest) - _LISTED} more" if len(newest) > _LISTED else ""
    return ", ".join(newest[:_LISTED]) + more


def _parted(line: str) -> dict[str, str]:
    """Return the files of a line that lists them, the newest last."""
    listed = _MORE.sub("", line).split(", ")
    pairs = (path.removesuffix(")").partition(" (") for path in reversed(listed) if path)
    return {path: commit for path, _, commit in pairs}


def _whereabouts(deeds: Sequence[Deed], known: Mapping[str, str]) -> dict[str, str]:
    """Return the directory of the newest command, and the branch that git named last there.

    Output of anything else may talk about anybody's branches. Where a relative path leads depends
    on whether an agent's shell remembers where it was, which nobody says.
    """
    here = known.get("Directory", "")
    named = [(here, known.get("Branch", ""))]
    for deed in deeds:
        if deed.action.family is not Family.SHELL:
            continue
        command = deed.action.target[:2_000]
        moved = reduce(join, [deed.beside, *(path.strip("'\"") for path in _CD.findall(command))])
        here = normpath(moved) if _WHOLE.match(moved) else here
        answer = "" if deed.ended is None else deed.ended.text
        is_likely = "branch" in answer[:4_000] or "\n[" in f"\n{answer[:4_000]}"
        if is_likely and _GIT.search(command) and (found := _BRANCH.findall(answer[:4_000])):
            named.append((here, "".join(found[-1])))
        if reset := _RESET.search(answer[-300:]):
            here = reset[1]
    for place, branch in reversed(named):
        # Only of whole paths it is known whether they may be of one repository.
        one, other = f"{place}/", f"{here}/"
        is_path = place.startswith("/") and here.startswith("/")
        if not is_path or one.startswith(other) or other.startswith(one):
            return {"Directory": here, "Branch": branch}
    return {"Directory": here, "Branch": ""}


def failures(deeds: Sequence[Deed]) -> list[tuple[str, int]]:
    """Return recent failures with their errors that no later success resolved, oldest first.

    A later failure of the same work replaces an earlier one. Each comes with its message.
    """
    settled = set[tuple[str, ...]]()
    found: list[tuple[str, int]] = []
    for deed in reversed(deeds[-_RECENT:]):
        if deed.ended is None:
            continue
        work, failed = work_of(deed), not has_worked(deed)
        line = verdict(deed)[1] if failed and is_check(deed) else ""
        error = (line or error_line(deed.ended.text)) if failed else ""
        only_shows = all(each[0].partition(" ")[0] in SHOWING for each in work)
        if error and not only_shows and not is_settled(work[-1], settled):
            told = f'{clip_words(deed.action.target, _COMMAND)} - "{clip_words(error, 160)}"'
            found.append((told, deed.place))
        settled.update(work[-1:] if failed else work)
    return found[:_FAILURES][::-1]


def has_worked(deed: Deed) -> bool:
    """Say whether a deed ended well, by what it says where its exit code is another program's."""
    failed = deed.ended is None or deed.failed
    return not failed and not (is_check(deed) and verdict(deed)[0] == FAILED)


def failed_work(entry: str) -> tuple[str, ...]:
    """Return the work of a failure, as an entry of a record tells it."""
    return steps_of(entry.rpartition(' - "')[0])[-1]


def still_blocked(blocked: Iterable[str], deeds: Iterable[Deed]) -> list[str]:
    """Return which failures that an earlier record told no later deed settled."""
    done = [deed for deed in deeds if has_worked(deed) and not deed.rejected]
    works = {work for deed in done for work in work_of(deed)}
    shown = {clip_words(deed.action.target, _COMMAND) for deed in done}
    left: list[str] = []
    for entry in blocked:
        command, failed, _ = entry.rpartition(' - "')
        # What others wrote of a blocker names no command.
        if not failed or not (command in shown or is_settled(failed_work(entry), works)):
            left.append(entry)
    return left


def is_settled(failed: tuple[str, ...], done: Collection[tuple[str, ...]]) -> bool:
    """Say whether what failed was done since, or a check that covers it."""
    return failed in done or any(_covers(each, failed) for each in done)


def _covers(done: tuple[str, ...], failed: tuple[str, ...]) -> bool:
    """Say whether a check covers another one: all that its runner checks, or all the targets.

    Another runner of tests counts for the very same targets, also where these were run as programs.
    """
    targets, covered = failed[1:], done[1:]
    if done[0] == failed[0]:
        return not covered or (bool(targets) and all(_holds(covered, each) for each in targets))
    if done[0].rpartition(" ")[2] not in _TESTERS:
        return False
    program, _, name = failed[0].rpartition(" ")
    same = targets if name in _TESTERS else (name,) if program and "/" in name else ()
    return bool(same) and set(same) <= set(covered)


def _holds(covered: Sequence[str], target: str) -> bool:
    """Say whether one of the targets is another one, or a folder or file that it lies in."""
    within, is_file = f"/{target.replace('::', '/')}/", "." in target
    return any(
        not each
        or f"/{each.replace('::', '/')}/" in within
        # From another directory a file has a shorter path.
        or (is_file and f"/{each}".endswith(f"/{target}"))
        for each in covered
    )


def work_of(deed: Deed) -> list[tuple[str, ...]]:
    """Return what makes two deeds attempts at the same: the steps of a command, or a target."""
    target = deed.action.target
    return steps_of(target) if deed.action.family is Family.SHELL else [(target,)]


def steps_of(command: str) -> list[tuple[str, ...]]:
    """Return the steps of a command line, by which another attempt at the same thing is known.

    A step is its first words without options, which change from one attempt to the next. A check
    is its runner, and then its targets.
    """
    steps: list[tuple[str, ...]] = []
    for part in _STEPS.split(command[:2_000].partition("<<")[0]):
        plain = _REDIRECTED.sub(" ", part).partition("|")[0]
        said = [*dropwhile(lambda word: "=" in word, plain.split())]
        words = [
            word
            for before, word in zip(["", *said], said, strict=False)
            if word == "-m" or not (word.startswith("-") or before in _VALUED)
        ]
        is_longer = words[1:2] in _RUNS or (words and words[0] in _NESTED)
        if (at := check_at(words)) >= 0:
            steps.append(_check(words, at))
        elif words and words[0] not in _ASIDE:
            steps.append((" ".join(words[: 3 if is_longer else 2]),))
    return steps or [(command,)]


def _check(words: Sequence[str], at: int) -> tuple[str, ...]:
    """Return the runner of a check and its targets, which are paths where any are named."""
    name, rest = words[at].rpartition("/")[2].partition(".")[0], [*words[at + 1 :]]
    if name in _TOPICS:
        name, rest = " ".join([name, *rest[:1]]), rest[1:]
    elif name not in _NAMED:
        before = [word for word in words[:at] if [word] not in _RUNS]
        name = " ".join([*before[-1:], name])
    targets = {word.strip("'\"…") for word in rest if word != "-m" and "=" not in word} - {""}
    paths = {each for each in targets if "/" in each or "." in each or ":" in each}
    bare = (each.removeprefix("./").removesuffix("...").rstrip("/") for each in paths or targets)
    return (name, *sorted({"" if each == "." else each for each in bare}))


def file_notes(files: Files) -> list[tuple[str, bool]]:
    """Return a note on each file, the newest last, and whether it was changed."""
    notes: list[tuple[str, bool]] = []
    for path, (edits, lines) in files.touched.items():
        made = path in files.created
        told = ["created"] * made + ["changed"] * (edits > made)
        read = f"read, lines {lines}" if lines else "read"
        notes.append((f"{path} - {', '.join(told) or read}", edits > 0))
    return notes
