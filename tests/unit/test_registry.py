from __future__ import annotations

from pathlib import Path

import pytest

from cairn.errors import AmbiguousError, ProjectError, StoreError
from cairn.registry import AllowedProject, Registry
from cairn.runtime import StateFolder


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "state")


def make(tmp_path: Path, *names: str) -> list[Path]:
    roots = [tmp_path / name for name in names]
    for root in roots:
        root.mkdir()
    return roots


def test_a_project_is_found_by_name_and_by_folder(tmp_path: Path, folder: StateFolder) -> None:
    one, two = make(tmp_path, "one", "two")
    registry = Registry(folder)
    registry.add(one, "first")
    registry.add(two, "second")
    assert registry.find("first") == registry.find(str(one)) == AllowedProject("first", str(one))
    assert Registry(folder).projects() == (AllowedProject("first", str(one)), AllowedProject("second", str(two)))


def test_the_only_project_needs_no_name(tmp_path: Path, folder: StateFolder) -> None:
    (one,) = make(tmp_path, "one")
    Registry(folder).add(one, "first")
    assert Registry(folder).find("").root == str(one)


def test_a_project_that_was_not_allowed_is_refused(tmp_path: Path, folder: StateFolder) -> None:
    (one,) = make(tmp_path, "one")
    Registry(folder).add(one, "first")
    with pytest.raises(ProjectError, match="allow"):
        Registry(folder).find(str(tmp_path))


def test_the_error_for_a_wrong_name_lists_the_projects_there_are(tmp_path: Path, folder: StateFolder) -> None:
    (one,) = make(tmp_path, "one")
    Registry(folder).add(one, "first")
    with pytest.raises(ProjectError, match="no project is called 'frist'") as caught:
        Registry(folder).find("frist")
    assert str(caught.value).endswith(f"; there is first ({one})")


def test_a_project_whose_folder_is_gone_is_neither_offered_nor_meant(tmp_path: Path, folder: StateFolder) -> None:
    one, two, three = make(tmp_path, "one", "two", "three")
    registry = Registry(folder)
    for root, name in ((one, "first"), (two, "second"), (three, "third")):
        registry.add(root, name)
    one.rmdir()
    with pytest.raises(ProjectError) as caught:
        registry.find("frist")
    assert str(caught.value).endswith(f"; there are second ({two}), third ({three})")
    two.rmdir()
    assert registry.find("").root == str(three)
    assert registry.find("first").root == str(one)  # whoever names it is told that it is gone


def test_a_name_of_two_projects_is_ambiguous(tmp_path: Path, folder: StateFolder) -> None:
    registry = Registry(folder)
    for root in make(tmp_path, "one", "two"):
        registry.add(root, "same")
    with pytest.raises(AmbiguousError, match=r"one.*two"):
        registry.find("same")


def test_projects_of_one_name_are_told_apart_by_their_folders(tmp_path: Path, folder: StateFolder) -> None:
    registry = Registry(folder)
    one, two, other = make(tmp_path, "one", "two", "other")
    for root, name in ((one, "same"), (two, "same"), (other, "other")):
        registry.add(root, name)
    assert registry.names() == {str(one): str(one), str(two): str(two), str(other): "other"}
    assert [registry.find(name).root for name in registry.names().values()] == list(registry.names())


def test_what_another_process_adds_is_seen(tmp_path: Path, folder: StateFolder) -> None:
    one, two = make(tmp_path, "one", "two")
    registry, other = Registry(folder), Registry(folder)
    registry.add(one, "one")
    assert other.knows(one, "one")
    other.add(two, "two")
    assert registry.knows(two, "")
    assert not registry.knows(two, "another name")


def test_a_project_gets_a_new_name(tmp_path: Path, folder: StateFolder) -> None:
    (one,) = make(tmp_path, "one")
    registry = Registry(folder)
    registry.add(one, "old")
    registry.add(one, "new")
    assert registry.projects() == (AllowedProject("new", str(one)),)


def test_a_name_holds_nothing_that_could_be_taken_for_something_else(tmp_path: Path, folder: StateFolder) -> None:
    (one,) = make(tmp_path, "one")
    registry = Registry(folder)
    registry.add(one, "a b\n\x1b[31m/c")
    assert registry.projects()[0].name == "a-b-31m-c"


def test_a_project_whose_folder_is_gone_leaves_the_list(tmp_path: Path, folder: StateFolder) -> None:
    one, two = make(tmp_path, "one", "two")
    registry = Registry(folder)
    registry.add(one, "one")
    one.rmdir()
    registry.add(two, "two")
    assert registry.projects() == (AllowedProject("two", str(two)),)


def test_a_damaged_list_counts_as_empty_and_fills_again(tmp_path: Path, folder: StateFolder) -> None:
    (one,) = make(tmp_path, "one")
    folder.create()
    folder.projects.write_text('{"projects": [{"name":')
    registry = Registry(folder)
    assert registry.projects() == ()
    registry.add(one, "one")
    assert registry.knows(one, "one")


def test_a_folder_whose_name_is_no_text_is_kept(tmp_path: Path, folder: StateFolder) -> None:
    root = tmp_path / "\udcff"
    root.mkdir()
    Registry(folder).add(root, "odd")
    assert Registry(folder).find(str(root)).name == "odd"


def test_a_list_that_cannot_be_written_is_an_error(tmp_path: Path, folder: StateFolder) -> None:
    (one,) = make(tmp_path, "one")
    folder.create()
    folder.projects.mkdir()
    with pytest.raises(StoreError, match="cannot write"):
        Registry(folder).add(one, "one")
