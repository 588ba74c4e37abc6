"""`Client#push` is a method of objects, `Client.push` in Ruby one of the class, which may have the same name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cairn.workspace import Workspace
from small_projects import write_files

FILES = {
    "lib/client.rb": (
        "module Shop\n  class Client\n    def self.push(item)\n      new.push(item)\n    end\n\n"
        "    def push(item)\n      raw_push([item])\n    end\n  end\nend\n"
    ),
    "web/queue.js": (
        "class Queue {\n  static drain(all) { return all }\n\n  drain() { return Queue.drain(this.all) }\n}\n"
    ),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("methods")
    write_files(root, FILES)
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Client#push", 7),
        ("Shop::Client#push", 7),
        ("where is Client#push defined", 7),
        ("Client.push", 3),
        ("Client::push", 3),
        ("Queue#drain", 4),
        ("Queue.drain", 2),
    ],
)
def test_how_a_method_is_written_tells_one_of_objects_from_one_of_the_class(
    workspace: Workspace, text: str, line: int
) -> None:
    assert workspace.search(text).code[0].start_line == line
