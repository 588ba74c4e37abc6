"""Tests of the lines to which links lead."""

from __future__ import annotations

import time

import pytest

from cairn.search.linked_places import is_elsewhere, with_places
from cairn.source.frames import read_frames

PATH = "src/shop/cart.py"


@pytest.mark.parametrize(
    "link",
    [
        f"https://github.com/acme/shop/blob/4f2a1b9c/{PATH}#L7",
        f"https://github.com/acme/shop/blob/feature/x/{PATH}#L7-L9",
        f"https://github.com/acme/shop/blob/main/{PATH}?plain=1#L7C5-L9C10",
        f"https://gitlab.example.com/a/b/shop/-/blob/main/{PATH}?ref_type=heads#L7-9",
        f"https://bitbucket.org/acme/shop/src/4f2a1b9c/{PATH}#lines-7:9",
        f"https://bitbucket.example.com/projects/A/repos/shop/browse/{PATH}?at=refs%2Fheads%2Fmain#7-9",
        f"https://git.example.com:3000/acme/shop/src/branch/main/{PATH}#L7-L9",
        f"https://sourcegraph.com/github.com/acme/shop/-/blob/{PATH}?L7:3-9:2",
        f"https://dev.azure.com/acme/_git/shop?path=/{PATH}&version=GBmain&line=7&lineEnd=9",
        f"https://cs.opensource.google/acme/shop/+/main:{PATH};l=7",
        f"vscode://file/home/u/src/shop/{PATH}:7:3",
        f"vscode://file/c:/src/shop/{PATH}:7",
        f"idea://open?file=/home/u/shop/{PATH}&line=7",
        "jetbrains://idea/navigate/reference?project=shop&path=src%2Fshop%2Fcart.py:7:3",
        "subl://open?url=file%3A%2F%2F%2Fhome%2Fu%2Fsrc%2Fshop%2Fcart.py&line=7",
        f"file:///home/u/shop/{PATH}#L7",
    ],
)
@pytest.mark.parametrize("around", ["see {} , it is wrong", "According to [the code]({}) it is", "<{}>"])
def test_a_link_to_a_line_is_read_as_a_place(link: str, around: str) -> None:
    (place,) = read_frames(with_places(around.format(link)))
    assert (place.path.endswith(f"/{PATH}") or place.path == PATH, place.line) == (True, 7)


@pytest.mark.parametrize(
    "link",
    [
        f"https://github.com/acme/shop/blob/4f2a1b9c/{PATH}#L7",
        f"https://gitlab.example.com/a/b/shop/-/blob/main/{PATH}?ref_type=heads#L7-9",
        f"https://bitbucket.org/acme/shop/src/4f2a1b9c/{PATH}#lines-7:9",
        f"https://bitbucket.example.com/projects/A/repos/shop/browse/{PATH}?at=refs%2Fheads%2Fmain#7-9",
        f"https://git.example.com:3000/acme/shop/src/branch/main/{PATH}#L7-L9",
        f"https://sourcegraph.com/github.com/acme/shop/-/blob/{PATH}?L7:3-9:2",
    ],
)
def test_the_name_of_the_repository_of_a_link_tells_whether_it_is_another_one(link: str) -> None:
    (place,) = read_frames(with_places(link))
    assert is_elsewhere(place.path, lambda: "till")
    assert not is_elsewhere(place.path, lambda: "Shop")
    assert not is_elsewhere(place.path, lambda: "")


@pytest.mark.parametrize("text", [f"vscode://file/home/u/tool/blob/main/{PATH}:7", f"/home/u/tool/blob/main/{PATH}:7"])
def test_a_place_on_a_disk_is_in_no_other_repository(text: str) -> None:
    (place,) = read_frames(with_places(text))
    assert not is_elsewhere(place.path, lambda: "shop")


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/acme/shop/issues/12#issuecomment-7",
        "https://docs.example.com/guide.html#section-7",
        f"https://github.com/acme/shop/blob/main/{PATH}",
        "http://[::1/cart#L7",
        f"{PATH}:7",
    ],
)
def test_what_leads_to_no_line_is_left_as_it_is(text: str) -> None:
    assert with_places(text) == text


@pytest.mark.parametrize("piece", ["a://", "https://a/b.py#", "x?path=a.b&", "file:///a.b:", "a+.-"])
def test_links_that_are_made_to_be_slow_take_linear_time(piece: str) -> None:
    started = time.perf_counter()
    with_places(f"https://{piece * (40_000 // len(piece))}")
    assert time.perf_counter() - started < 1.0
