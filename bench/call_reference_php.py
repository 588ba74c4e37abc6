"""Writes what the language server Intelephense says each call of PHP is to, in the form of `call_reference.py`.

    python bench/call_reference_php.py FOLDER node INTELEPHENSE/lib/intelephense.js --stdio > reference.jsonl

The server answers `new X` with a constructor, perhaps of another class; here it is to the class, which the `use`
statements and the namespace of the file tell.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

import tree_sitter
import tree_sitter_php

_LANGUAGE = tree_sitter.Language(tree_sitter_php.language_php())
_QUERY = tree_sitter.Query(
    _LANGUAGE,
    """
    (function_call_expression function: [(name) @name (qualified_name (name) @name)])
    (member_call_expression name: (name) @name)
    (nullsafe_member_call_expression name: (name) @name)
    (scoped_call_expression name: (name) @name)
    (object_creation_expression [(name) @made (qualified_name (name) @made)])
    """,
)
_AT_A_TIME = 100
_NO_NAMES = (b"self", b"static", b"parent")
_DOCUMENTED = re.compile(r"^(?:/\*.*?\*/|#\[.*?\]\s*\n|\s)+", re.DOTALL)
_DECLARED = re.compile(r"\b(?:function\s*&?|class|interface|trait|enum)\s+(\w+)", re.IGNORECASE)
_CLASS = re.compile(r"^\s*(?:(?:abstract|final|readonly)\s+)*class\s+(\w+)", re.MULTILINE)
_NAMESPACE = re.compile(r"^(?:<\?php\s+)?namespace\s+([\w\\]+)\s*[;{]", re.MULTILINE)
_USE = re.compile(r"^use\s+([\w\\]+)(?:\s+as\s+(\w+))?;", re.MULTILINE)

Classes = dict[str, tuple[Path, int]]  # by their full names, in lower case


class Server:
    """A language server that is talked to in JSON over its standard streams."""

    def __init__(self, command: Sequence[str], root: Path) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._asked = 0
        self._state = tempfile.TemporaryDirectory()
        options = {"storagePath": self._state.name, "globalStoragePath": self._state.name, "clearCache": True}
        folder = {"uri": root.as_uri(), "name": "compared"}
        self.ask(
            [
                (
                    "initialize",
                    {
                        "processId": os.getpid(),
                        "rootUri": root.as_uri(),
                        "workspaceFolders": [folder],
                        "capabilities": {},
                        "initializationOptions": options,
                    },
                )
            ]
        )
        self.tell("initialized", {})
        while self._read().get("method") != "indexingEnded":
            pass

    def ask(self, requests: Sequence[tuple[str, Any]]) -> list[Any]:
        """Return the results of some requests, in their order."""
        numbers = []
        for method, parameters in requests:
            self._asked += 1
            numbers.append(self._asked)
            self._write({"id": self._asked, "method": method, "params": parameters})
        results: dict[int, Any] = {}
        while len(results) < len(numbers):
            message = self._read()
            if "method" not in message and "id" in message:
                results[message["id"]] = message.get("result")
            elif "id" in message:
                self._write({"id": message["id"], "result": None})
        return [results[number] for number in numbers]

    def tell(self, method: str, parameters: Any) -> None:  # noqa: ANN401 - any JSON
        """Send a notification."""
        self._write({"method": method, "params": parameters})

    def _write(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self._stream(self._process.stdin)
        stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        stream.flush()

    def _read(self) -> dict[str, Any]:
        stream = self._stream(self._process.stdout)
        length = 0
        while (line := stream.readline().strip()) or not length:
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(stream.read(length))
        return message

    @staticmethod
    def _stream(stream: IO[bytes] | None) -> IO[bytes]:
        if stream is None:
            raise RuntimeError("the server has no standard streams")
        return stream

    def stop(self) -> None:
        """End the server."""
        self._process.terminate()
        self._process.wait()
        self._state.cleanup()


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    server = Server(sys.argv[2:], root)
    texts = {path: path.read_text("utf-8", "replace") for path in sorted(root.rglob("*.php")) if path.is_file()}
    classes = _classes(texts)
    for path in texts:
        for row in _rows(server, path, texts, classes, root):
            print(json.dumps(row))
    server.stop()
    return 0


def _classes(texts: dict[Path, str]) -> Classes:
    classes: Classes = {}
    for path, text in texts.items():
        for match in _CLASS.finditer(text):
            name = f"{_namespace(text, match.start())}\\{match[1]}"
            classes[name.strip("\\").lower()] = (path, text.count("\n", 0, match.start(1)) + 1)
    return classes


def _namespace(text: str, place: int) -> str:
    return max(_NAMESPACE.finditer(text, 0, place), key=re.Match.start, default={1: ""})[1]


def _rows(server: Server, path: Path, texts: dict[Path, str], classes: Classes, root: Path) -> Iterator[list[Any]]:
    """Yield a row for each call in a file."""
    text = texts[path]
    data = text.encode()
    document = {"uri": path.as_uri(), "languageId": "php", "version": 1, "text": text}
    server.tell("textDocument/didOpen", {"textDocument": document})
    captures = tree_sitter.QueryCursor(_QUERY).captures(tree_sitter.Parser(_LANGUAGE).parse(data).root_node)
    sites = [(node, kind == "made") for kind, nodes in captures.items() for node in nodes]
    sites = sorted((site for site in sites if site[0].text not in _NO_NAMES), key=lambda site: site[0].start_byte)
    for start in range(0, len(sites), _AT_A_TIME):
        some = sites[start : start + _AT_A_TIME]
        places = [_position(data, node.start_byte) for node, _ in some]
        where = {"uri": path.as_uri()}
        requests = [("textDocument/definition", {"textDocument": where, "position": place}) for place in places]
        for (node, makes), found in zip(some, server.ask(requests), strict=True):
            name = (node.text or b"").decode()
            made = _class_made(node, text, classes) if makes else None
            targets = [made] if made else _targets(found or [], texts)
            inside = None if targets is None else [(one.relative_to(root).as_posix(), *rest) for one, *rest in targets]
            yield [path.relative_to(root).as_posix(), node.start_point[0] + 1, name, inside]
    server.tell("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})


def _class_made(node: tree_sitter.Node, text: str, classes: Classes) -> tuple[Path, int, str] | None:
    """Return the class that the name after `new` means, None for one outside the folder."""
    whole = node.parent if node.parent is not None and node.parent.type == "qualified_name" else node
    written = (whole.text or b"").decode()
    first, _, rest = written.partition("\\")
    uses = {(match[2] or match[1].rpartition("\\")[2]).lower(): match[1] for match in _USE.finditer(text)}
    if not first:
        name = rest
    elif first.lower() in uses:
        name = f"{uses[first.lower()]}\\{rest}"
    else:
        name = f"{_namespace(text, node.start_byte)}\\{written}"
    name = name.strip("\\")
    place = classes.get(name.lower())
    return (*place, name.rpartition("\\")[2]) if place else None


def _position(text: bytes, byte: int) -> dict[str, int]:
    start = text.rfind(b"\n", 0, byte) + 1
    units = len(text[start:byte].decode("utf-8", "replace").encode("utf-16-le")) // 2
    return {"line": text.count(b"\n", 0, byte), "character": units}


def _targets(found: Any, texts: dict[Path, str]) -> list[tuple[Path, int, str]] | None:  # noqa: ANN401 - any JSON
    """Return the definitions inside the folder, None where the server knows none at all."""
    places = found if isinstance(found, list) else [found]
    targets: list[tuple[Path, int, str]] = []
    for place in places:
        path = Path(unquote(urlsplit(place["uri"]).path))
        if path in texts:
            begin, end = place["range"]["start"]["line"], place["range"]["end"]["line"]
            whole = "\n".join(texts[path].split("\n")[begin : end + 1])[place["range"]["start"]["character"] :]
            declared = _DECLARED.search(_DOCUMENTED.sub("", whole))
            if declared:
                targets.append((path, begin + 1, declared[1]))
    return targets if places else None


if __name__ == "__main__":
    sys.exit(main())
