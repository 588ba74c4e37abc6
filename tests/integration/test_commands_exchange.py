from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from in_process import cairn


def test_memories_move_to_another_checkout_as_a_file_and_through_a_pipe(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    assert cairn("remember", "wipe the cache first", cwd=here).returncode == 0
    written = cairn("export", str(tmp_path / "memories.jsonl"), cwd=here)
    assert written.stdout == f"Wrote 1 event to {tmp_path / 'memories.jsonl'}.\n"
    assert os.stat(tmp_path / "memories.jsonl").st_mode & 0o777 == 0o600
    piped = cairn("export", cwd=here)
    assert piped.stdout == (tmp_path / "memories.jsonl").read_text()
    dry = cairn("import", "-", "--dry-run", "--json", cwd=there, stdin=piped.stdout)
    assert json.loads(dry.stdout) == {"dry_run": True, "new": 1, "known": 0, "memories": 0, "erased": 0, "redacted": 0}
    assert not (there / ".cairn" / "memory.db").exists()
    done = cairn("import", str(tmp_path / "memories.jsonl"), cwd=there)
    assert done.stdout == "Imported 1 event, which changed 1 memory.\n"
    listed = cairn("memories", cwd=there).stdout
    assert "wipe the cache first" in listed
    assert "  imported\n" in listed
    assert "imported" not in cairn("memories", cwd=here).stdout
    (row,) = json.loads(cairn("memories", "--json", cwd=here).stdout)["memories"]
    cairn("forget", row["id"], "--yes", cwd=here)
    erased = cairn("import", "-", cwd=there, stdin=cairn("export", cwd=here).stdout)
    assert erased.stderr == "Erased 1 memory that was erased elsewhere.\n"


def test_an_export_of_nothing_says_so(tmp_path: Path) -> None:
    done = cairn("export", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "There are no memories to export.\n")
    assert json.loads(done.stdout) == {"format": "cairn-memory", "version": 1}


def test_a_file_that_is_no_export_or_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello\n")
    for arguments, code in (
        (("import", "notes.txt"), "error[event]: this is not an export"),
        (("import", "missing.jsonl"), "error[path]: cannot read missing.jsonl"),
        (("import", "."), "error[path]: cannot read ."),
        (("export", "."), "error[path]: . is not a file"),
        (("export", "missing/memories.jsonl"), "error[path]: cannot write"),
        (("export", "--json"), "error[request]: "),
    ):
        done = cairn(*arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith(code), done.stderr
        assert "  try: " in done.stderr
        assert "Traceback" not in done.stderr


def test_shared_memories_reach_a_clone(tmp_path: Path) -> None:
    def git(*arguments: str, cwd: Path) -> None:
        identity = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)

    origin = tmp_path / "origin"
    origin.mkdir()
    git("init", "-q", "-b", "main", cwd=origin)
    assert cairn("remember", "wipe the cache first", "--shared", cwd=origin).returncode == 0
    assert cairn("remember", "a private thought", cwd=origin).returncode == 0
    git("add", ".", cwd=origin)
    git("commit", "-q", "-m", "share", cwd=origin)
    git("clone", "-q", str(origin), str(tmp_path / "clone"), cwd=tmp_path)
    listed = cairn("memories", cwd=tmp_path / "clone")
    assert "wipe the cache first" in listed.stdout
    assert "private" not in listed.stdout
    assert listed.stderr == ""


def test_memories_restored_on_another_machine_are_used_once_they_were_adopted(tmp_path: Path) -> None:
    assert cairn("remember", "wipe the cache first", cwd=tmp_path).returncode == 0
    for record in Path(os.environ["XDG_STATE_HOME"]).rglob("indexes/*.json"):
        record.unlink()
    refused = cairn("memories", cwd=tmp_path)
    assert refused.returncode == 3
    assert refused.stderr.startswith("error[store-foreign]")
    assert refused.stderr.rstrip().endswith("cairn doctor --adopt-memory")
    asked = cairn("doctor", "--adopt-memory", cwd=tmp_path)
    assert asked.returncode == 2
    assert "Nothing was changed." in asked.stderr
    assert cairn("memories", cwd=tmp_path).returncode == 3
    assert cairn("doctor", "--adopt-memory", "--yes", cwd=tmp_path).stdout == "Took over 1 memory.\n"
    assert "wipe the cache first" in cairn("memories", cwd=tmp_path).stdout
    assert "was made here" in cairn("doctor", "--adopt-memory", "--yes", cwd=tmp_path).stdout


def test_pruning_says_what_it_would_do(tmp_path: Path) -> None:
    assert cairn("remember", "wipe the cache first", "--importance", "2", cwd=tmp_path).returncode == 0
    done = cairn("memories", "prune", "--dry-run", "--json", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)) == (1, {"dry_run": True, "memories": []})


def test_what_can_be_read_of_a_damaged_memory_is_saved_once_that_is_confirmed(tmp_path: Path) -> None:
    for number in range(60):
        assert cairn("remember", f"fact {number}: {'so ' * 100}", cwd=tmp_path).returncode == 0
    file = tmp_path / ".cairn" / "memory.db"
    content = bytearray(file.read_bytes())
    while (found := content.find(b"fact 30:")) >= 0:
        page = found // 4096 * 4096
        content[page : page + 4096] = bytes(4096)
    file.write_bytes(content)
    assert "cairn doctor --salvage-memory" in cairn("doctor", cwd=tmp_path).stdout
    asked = cairn("doctor", "--salvage-memory", cwd=tmp_path)
    assert (asked.returncode, file.read_bytes()) == (2, bytes(content))
    assert "Nothing was changed." in asked.stderr
    done = json.loads(cairn("doctor", "--salvage-memory", "--yes", "--json", cwd=tmp_path).stdout)
    assert 40 < done["events"] == done["memories"] < 60
    assert done["events"] + done["lost"] == 60
    assert Path(done["kept"]).read_bytes() == content
    assert cairn("memories", "--limit", "0", cwd=tmp_path).stdout.count("fact ") == done["memories"]
    assert "nothing to save" in cairn("doctor", "--salvage-memory", "--yes", cwd=tmp_path).stderr
