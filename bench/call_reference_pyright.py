"""Writes what pyright says each call of a Python project is to, in the form of call_reference.py.

    python bench/call_reference_pyright.py FOLDER COMMAND... > reference.jsonl

COMMAND starts the language server, such as `npx pyright-langserver --stdio`.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from call_reference import call_sites


class Server:
    """A language server, asked one thing after the other."""

    def __init__(self, command: list[str], root: Path) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self._number = 0
        folder = {"uri": root.as_uri(), "name": root.name}
        self.ask(
            "initialize",
            {"processId": None, "rootUri": root.as_uri(), "capabilities": {}, "workspaceFolders": [folder]},
        )
        self.tell("initialized", {})

    def tell(self, method: str, what: object) -> None:
        """Send what needs no answer."""
        self._send({"jsonrpc": "2.0", "method": method, "params": what})

    def ask(self, method: str, what: object) -> Any:  # noqa: ANN401 - as the protocol has it
        """Return the answer to a request; requests of the server are answered with nothing."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": what})
        while True:
            message = self._receive()
            if "method" in message and "id" in message:
                wanted = message.get("params", {}).get("items", [])
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": [None] * len(wanted)})
            elif message.get("id") == self._number:
                return message.get("result")

    def end(self) -> None:
        """Let the server end."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        self._process.wait(30)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        data = json.dumps(message).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        return dict(json.loads(self._process.stdout.read(length)))


def definitions(path: Path) -> dict[tuple[int, int], str]:
    """Return {(line, column): name} of the functions and classes of a file, where the name stands."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError):
        return {}
    words = {ast.FunctionDef: "def ", ast.AsyncFunctionDef: "async def ", ast.ClassDef: "class "}
    return {
        (node.lineno, node.col_offset + len(words[type(node)])): node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    server = Server(sys.argv[2:], root)
    known: dict[Path, dict[tuple[int, int], str]] = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            sites = call_sites(ast.parse(text))
        except SyntaxError:
            continue
        document = {"uri": path.as_uri()}
        server.tell(
            "textDocument/didOpen", {"textDocument": {**document, "languageId": "python", "version": 1, "text": text}}
        )
        lines = text.splitlines()
        for line, column, name in sites:
            characters = len(lines[line - 1].encode()[:column].decode().encode("utf-16-le")) // 2
            place = {"line": line - 1, "character": characters}
            found = server.ask("textDocument/definition", {"textDocument": document, "position": place}) or []
            targets: list[list[object]] | None = None
            for end in found if isinstance(found, list) else [found]:
                file = Path(unquote(urlparse(end["uri"]).path))
                if file not in known:
                    known[file] = definitions(file)
                target = (end["range"]["start"]["line"] + 1, end["range"]["start"]["character"])
                if target in known[file]:
                    targets = targets or []
                    if file.is_relative_to(root):
                        targets.append([file.relative_to(root).as_posix(), target[0], known[file][target]])
            print(json.dumps([path.relative_to(root).as_posix(), line, name, targets]), flush=True)
        server.tell("textDocument/didClose", {"textDocument": document})
    server.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
