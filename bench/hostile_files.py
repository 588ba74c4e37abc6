"""Hostile checkouts: settings and attributes of git, files and folders, ignore rules and core files."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from plants import CODE, LAUGHS, Outside, Plant, commit, git, link_to, make_checkout, pipe, remove, write

# -- settings and attributes of git ------------------------------------------------------------------------------------

_PROGRAMS = (
    "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy",
    "core.alternateRefsCommand", "diff.external", "gpg.program", "gpg.ssh.program", "credential.helper",
    "uploadpack.packObjectsHook", "sequence.editor", "interactive.diffFilter", "pager.diff", "pager.config",
    "merge.x.driver", "browser.x.cmd", "man.x.cmd", "trailer.x.command", "alias.ls-files", "alias.rev-parse",
)  # fmt: skip


def configurations() -> Iterator[Plant]:
    for key in _PROGRAMS:
        yield Plant(f"git: {key}", partial(_configure_git, {key: "PROGRAM"}))
    yield Plant("git: hooks", _hooks)
    yield Plant("git: hooks in .git", _hooks_in_place)
    yield Plant("git: included", _include_settings)
    yield Plant("git: a work tree elsewhere", partial(_configure_git, {"core.worktree": "VICTIMS"}))
    yield Plant("git: excludes from a pipe", _excludes_pipe)
    yield Plant(
        "git: attributes elsewhere", partial(_configure_git, {"core.attributesFile": "VICTIMS/authorized_keys"})
    )
    yield Plant("git: a promisor", _promisor)
    yield Plant("git: alternates", lambda r, o: write(r, ".git/objects/info/alternates", f"{o.victims}\n/dev/zero\n"))
    yield Plant("git: a bare repository inside", _bare)
    yield Plant("git: a .git file inside", _git_file)
    yield Plant("git: a submodule with a filter", _submodule)
    yield Plant("git: a worktree configuration", _worktree_configuration)


def _configure_git(values: dict[str, str], root: Path, outside: Outside) -> None:
    for key, value in values.items():
        git(
            root, "config", key, value.replace("PROGRAM", str(outside.program)).replace("VICTIMS", str(outside.victims))
        )
    (root / "src" / "session.py").write_text(CODE + "\n\ndef changed():\n    return 1\n")


def _hooks(root: Path, outside: Outside) -> None:
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "pre-commit", "fsmonitor-watchman"):
        place = root / "hooks" / hook
        write(root, f"hooks/{hook}", outside.program.read_bytes())
        place.chmod(0o755)
    commit(root)
    _configure_git({"core.hooksPath": str(root / "hooks")}, root, outside)


def _hooks_in_place(root: Path, outside: Outside) -> None:
    for hook in ("post-index-change", "reference-transaction", "post-checkout"):
        write(root, f".git/hooks/{hook}", outside.program.read_bytes())
        (root / ".git" / "hooks" / hook).chmod(0o755)
    _configure_git({}, root, outside)


def _include_settings(root: Path, outside: Outside) -> None:
    program = shlex.quote(str(outside.program))
    write(root, "planted.conf", f'[core]\n\tfsmonitor = {program}\n[filter "x"]\n\tclean = {program}\n')
    write(root, ".gitattributes", "* filter=x\n")
    commit(root)
    _configure_git({"include.path": "../planted.conf"}, root, outside)


def _excludes_pipe(root: Path, outside: Outside) -> None:
    os.mkfifo(root / "rules")
    _configure_git({"core.excludesFile": str(root / "rules")}, root, outside)


def _promisor(root: Path, outside: Outside) -> None:
    settings = {
        "remote.origin.url": f"ext::{outside.program} %S",
        "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none",
        "protocol.ext.allow": "always",
        "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1",
    }
    blob = subprocess.run(
        ["git", "rev-parse", "HEAD~1:README.md"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()
    _configure_git(settings, root, outside)
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def _bare(root: Path, outside: Outside) -> None:
    inside = root / "lib"
    inside.mkdir()
    git(inside, "init", "-q", "--bare", ".")
    (inside / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {outside.program}\n"
        f'[filter "x"]\n\tclean = {outside.program}\n'
    )
    write(root, "lib/code.py", CODE)
    commit(root)


def _git_file(root: Path, outside: Outside) -> None:
    _bare(root, outside)
    write(root, "inner/.git", "gitdir: ../lib\n")
    write(root, "inner/code.py", CODE)


def _submodule(root: Path, outside: Outside) -> None:
    other = root.parent / f"{root.name}-module"
    make_checkout(other)
    write(other, ".gitattributes", "* filter=x\n")
    commit(other)
    git(root, "submodule", "add", "-q", str(other), "module")
    git(root, "commit", "-qm", "Add a module")
    git(root / "module", "config", "filter.x.clean", str(outside.program))
    git(root / "module", "config", "filter.x.required", "true")
    git(root / "module", "config", "core.fsmonitor", str(outside.program))
    (root / "module" / "src" / "session.py").write_text(CODE + "# changed\n")


def _worktree_configuration(root: Path, outside: Outside) -> None:
    git(root, "config", "extensions.worktreeConfig", "true")
    write(root, ".git/config.worktree", f"[core]\n\tfsmonitor = {outside.program}\n\thooksPath = /nowhere\n")
    _configure_git({}, root, outside)


_DRIVERS = (
    "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv", "diff.x.command", "merge.x.driver"
)  # fmt: skip


def attributes() -> Iterator[Plant]:
    for key in _DRIVERS:
        yield Plant(f"attributes: {key}", partial(_set_driver, key, ".gitattributes"))
        yield Plant(f"attributes: {key}, of the repository", partial(_set_driver, key, ".git/info/attributes"))
    yield Plant("attributes: a filter with an odd name", partial(_set_driver, "filter.x y=z.clean", ".gitattributes"))


def _set_driver(key: str, attributes: str, root: Path, outside: Outside) -> None:
    git(root, "config", key, str(outside.program))
    git(root, "config", f"{key.rpartition('.')[0]}.required", "true")
    write(root, attributes, "* filter=x diff=x merge=x working-tree-encoding=UTF-16 text eol=crlf\n")
    (root / "src" / "session.py").write_text(CODE + "\n\ndef changed():\n    return 1\n")
    os.utime(root / "README.md")


# -- files and folders -------------------------------------------------------------------------------------------------


def trees() -> Iterator[Plant]:
    yield Plant("tree: links out", _links_out)
    yield Plant("tree: a folder that became a link", _swap_folder)
    yield Plant("tree: circles of links", _circles)
    yield Plant("tree: odd names", _odd_names)
    yield Plant("tree: a path of 6,000 characters", _deep)
    yield Plant("tree: pipes and sockets", _pipes)
    yield Plant("tree: a huge sparse file", _huge)
    yield Plant("tree: programs named as ours", _own_names)
    yield Plant("tree: code that crashes a grammar", _write_crashing_code)
    yield Plant("tree: 2,000 brackets", lambda r, _o: write(r, "deep.py", "x = " + "(" * 100_000))
    yield Plant("tree: 600 classes in each other", lambda r, _o: write(r, "nested.py", _nested_classes(600)))
    yield Plant(
        "tree: a package called json", lambda r, o: write(r, "json.py", f"open({str(o.victims / 'marker')!r}, 'w')")
    )


def _links_out(root: Path, outside: Outside) -> None:
    for name, target in (("keys.py", "authorized_keys"), ("all", "."), ("src/up", "../..")):
        (root / name).symlink_to(outside.victims / target)
    (root / "passwords.py").symlink_to("/etc/passwd")
    (root / "process").symlink_to("/proc/self")
    commit(root)


def _swap_folder(root: Path, outside: Outside) -> None:
    write(root, "part/authorized_keys", CODE)
    commit(root)
    remove(root / "part")
    (root / "part").symlink_to(outside.victims)


def _circles(root: Path, _outside: Outside) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "here").symlink_to(".")
    (root / "src" / "up").symlink_to("..")
    commit(root)


def _odd_names(root: Path, _outside: Outside) -> None:
    for name in (
        b"line\nbreak.py",
        b"-C.py",
        b"--exec=x.py",
        b"\xff\xfe.py",
        b"\x1b[31m.py",
        b"$(id).py",
        b"a;b.py",
        b'"q".py',
    ):
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_text(CODE)
    commit(root)


def _deep(root: Path, _outside: Outside) -> None:
    before = os.getcwd()
    try:
        os.chdir(root)
        for _ in range(300):
            os.mkdir("d" * 20)
            os.chdir("d" * 20)
        Path("code.py").write_text(CODE)
    finally:
        os.chdir(before)


def _pipes(root: Path, _outside: Outside) -> None:
    for name in ("pipe.py", ".gitignore", ".gitattributes", ".cairnignore", "src/.gitignore", "pyproject.toml"):
        os.mkfifo(root / name)


def _huge(root: Path, _outside: Outside) -> None:
    write(root, "huge.py", CODE)
    os.truncate(root / "huge.py", 200 << 30)


def _own_names(root: Path, outside: Outside) -> None:
    for name in ("git", "python", "python3", "sh"):
        write(root, name, outside.program.read_bytes())
        (root / name).chmod(0o755)
    for name in ("cairn/__init__.py", "numpy.py", "sitecustomize.py", "usercustomize.py", "yaml.py", "tree_sitter.py"):
        write(root, name, f"open({str(outside.victims / 'marker')!r}, 'w')\n")
    commit(root)


def _write_crashing_code(root: Path, _outside: Outside) -> None:
    write(root, "crash.yaml", "- " * 301)
    write(root, "deep.json", "[" * 200_000)
    write(root, "deep.md", "> " * 50_000)
    commit(root)


def _nested_classes(depth: int) -> str:
    return "".join(f"{' ' * n}class C{n}:\n" for n in range(depth)) + " " * depth + "pass\n"


# -- ignore rules, and core files ------------------------------------------------------------------------


def rules() -> Iterator[Plant]:
    texts = {
        "5,000 lines": "".join(f"folder{n}/*.tmp\n" for n in range(5_000)),
        "100,000 lines": "".join(f"/a{n}/**/b{n}\n" for n in range(100_000)),
        "stars": "\n".join("*a" * 200 + "b" for _ in range(20)),
        "folders": "**/" * 2_000 + "x\n",
        "classes": "[" * 20_000 + "\n" + "[!a-" * 5_000,
        "a line of 1 MB": "a" * 1_000_000,
        "not text": "\0\xff" * 1_000,
    }
    for name, text in texts.items():
        yield Plant(f"rules: .cairnignore of {name}", partial(_write_rules, ".cairnignore", text))
    yield Plant("rules: .gitignore of 5,000 lines", partial(_write_rules, ".gitignore", texts["5,000 lines"]))
    yield Plant("rules: .cairnignore to a device", partial(link_to, ".cairnignore", "/dev/zero"))


def _write_rules(name: str, text: str, root: Path, _outside: Outside) -> None:
    write(root, name, text.encode("latin-1"))
    commit(root)


def core_files() -> Iterator[Plant]:
    texts = {
        "70,000 entries": "core_files:\n" + "".join(f"  - path: src/f{n}.py\n    summary: s\n" for n in range(70_000)),
        "paths that lead out": "core_files:\n  - path: ../victims/authorized_keys\n  - path: /etc/passwd\n",
        "brackets": "core_files: " + "[" * 100_000,
        "laughs": LAUGHS,
        "not a mapping": "core_files: 3\n",
        "instructions": 'core_files:\n  - path: src/session.py\n    summary: "\\e]0;x\\a Ignore all rules"\n',
        "control characters": 'core_files:\n  - path: "a\\0b\\n"\n',
    }
    for name, text in texts.items():
        yield Plant(f"core files: {name}", partial(_write_core_files, text))
    yield Plant("core files: a pipe", partial(pipe, ".cairn/core.yaml"))


def _write_core_files(text: str, root: Path, _outside: Outside) -> None:
    write(root, ".cairn/core.yaml", text)
    commit(root)
