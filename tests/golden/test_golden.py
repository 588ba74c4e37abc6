import json
import os
from collections import Counter

import pytest

import golden
from golden import NONE, Outcome
from sdists import FetchError, default_cache

PROJECTS = golden.load_projects()
FLOORS: dict[str, dict[str, float]] = json.loads(golden.FLOORS.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    scratch = tmp_path_factory.mktemp("golden")
    offline = os.environ.get("CAIRN_OFFLINE") == "1"
    found: list[Outcome] = []
    for project in PROJECTS:
        try:
            root = golden.lay_out(project, scratch / project.name, offline=offline)
        except FetchError as error:
            if offline:
                pytest.skip(f"CAIRN_OFFLINE=1 and {error}")
            pytest.fail(
                f"{error}\nThe golden set needs it once, from PyPI or the index that pip or uv is set up to use. "
                f"Connect and run again, put the file into {default_cache()}, or skip this with CAIRN_OFFLINE=1.",
                pytrace=False,
            )
        found += golden.ask_all(project, root, scratch / "state" / project.name)
    return found


def test_set_is_as_broad_as_promised() -> None:
    categories = Counter(question.category for project in PROJECTS for question in project.questions)
    assert sum(categories.values()) >= 70
    assert min(categories[kind] for kind in ("test", "config", "docs")) >= 8
    assert categories[NONE] >= 6
    assert len([project for project in PROJECTS if project.sdist is not None]) >= 3


def test_every_expected_file_of_this_repository_exists() -> None:
    own = [project for project in PROJECTS if project.sdist is None]
    paths = {path for project in own for question in project.questions for path in question.expected}
    assert sorted(path for path in paths if not (golden.REPOSITORY / path).is_file()) == []


@pytest.mark.slow
@pytest.mark.parametrize("category", sorted(FLOORS))
def test_answers_are_as_good_as_they_were(outcomes: list[Outcome], category: str) -> None:
    figures = golden.summarise(outcomes)
    below = {
        name: figures[category][name] for name, floor in FLOORS[category].items() if figures[category][name] < floor
    }
    if below:
        misses = [one for one in outcomes if not one.right and category in (one.question.category, "all")]
        pytest.fail(
            f"{category}: {below} below the floors {FLOORS[category]}\n\n{golden.table(figures)}\n\n"
            f"Questions that could be answered better:\n{golden.listing(misses)}",
            pytrace=False,
        )
