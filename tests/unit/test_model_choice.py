"""What becomes of the embedding model that a project's file asks for."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cairn.config import Loaded, deciding_files, load, stamp_of
from cairn.consent import Consents
from cairn.errors import ConfigError, StoreError
from cairn.model_choice import ConsentRequest, describe, digest_of
from cairn.model_settings import ModelSettings

OPENAI = "{provider: openai, model: text-embedding-3-small}"
OWN = "{provider: openai, model: own, url: 'https://own.example/v1', api_key_env: OWN_KEY}"


class Place:
    """A project and a user's settings, read as a command would."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.file = self.root / ".cairn" / "config.yaml"
        self.user_file = folder / "user" / "cairn" / "config.yaml"
        self.state = folder / "state" / "cairn"
        for one in (self.file, self.user_file):
            one.parent.mkdir(parents=True)
        self.environment = {"XDG_CONFIG_HOME": str(folder / "user"), "XDG_STATE_HOME": str(folder / "state")}

    def load(self, project: str = "", user: str = "", root: Path | None = None, **variables: str) -> Loaded:
        self.file.write_text(project and f"embedding: {project}\n")
        self.user_file.write_text(user and f"embedding: {user}\n")
        return load(root or self.root, {**self.environment, **variables})

    def allow(self, project: str, user: str = "", *, allowed: bool = True) -> None:
        asked = self.load(project, user).consent_request
        assert asked is not None
        asked.settle(allowed=allowed)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def asked_in(loaded: Loaded) -> ConsentRequest:
    assert loaded.consent_request is not None
    return loaded.consent_request


ASKING = [
    OPENAI,
    "{provider: google, model: gemini-embedding-001}",
    "{provider: ollama, model: m}",
    "{provider: ollama, model: m, url: 'http://127.0.0.1:8000'}",
    "{provider: openai, model: m, url: 'http://localhost:1234/v1'}",
    "{provider: openai, model: m, url: 'https://elsewhere.example/v1'}",
    "{provider: fastembed, model: BAAI/bge-small-en-v1.5}",
    "{provider: sentence-transformers, model: all-MiniLM-L6-v2}",
    "{fallbacks: [{provider: openai, model: m}]}",
    "{fallbacks: '[{provider: openai, model: m}]'}",
    '{fallbacks: "- provider: openai\\n  model: m"}',
    "{provider: bundled, fallbacks: [{provider: ollama, model: m}]}",
]


@pytest.mark.parametrize("project", ASKING)
def test_a_projects_file_brings_no_model_before_the_user_allows_it(place: Place, project: str) -> None:
    loaded = place.load(project)
    assert loaded.settings.chain == ()
    assert len(asked_in(loaded).models) == 1
    assert str(place.file) in asked_in(loaded).note
    assert "cairn index" in asked_in(loaded).note


@pytest.mark.parametrize("project", ASKING)
def test_an_allowed_model_is_used_and_nobody_is_asked_again(place: Place, project: str) -> None:
    wanted = asked_in(place.load(project)).models
    place.allow(project)
    assert place.load(project) == Loaded(place.load(project).settings, None)
    assert place.load(project).settings.chain == wanted


@pytest.mark.parametrize("project", ASKING)
def test_a_refused_model_is_not_asked_for_again(place: Place, project: str) -> None:
    place.allow(project, allowed=False)
    loaded = place.load(project)
    assert (loaded.settings.chain, loaded.consent_request) == ((), None)
    Consents(place.state, place.root).forget()
    assert place.load(project).consent_request is not None


@pytest.mark.parametrize(
    "project",
    [
        "{provider: openai, model: text-embedding-3-large}",
        "{provider: openai, model: text-embedding-3-small, url: 'https://elsewhere.example/v1'}",
        "{provider: openai, model: text-embedding-3-small, url: 'http://127.0.0.1:9/v1'}",
        "{provider: google, model: text-embedding-3-small}",
        "{provider: openai, model: text-embedding-3-small, dimensions: 8}",
        "{provider: openai, model: text-embedding-3-small, document_prefix: 'x '}",
        "{provider: openai, model: text-embedding-3-small, fallbacks: [{provider: ollama, model: m}]}",
    ],
)
def test_any_change_of_what_was_allowed_is_asked_about(place: Place, project: str) -> None:
    place.allow(OPENAI)
    loaded = place.load(project)
    assert loaded.settings.chain == ()
    assert loaded.consent_request is not None


def test_limits_may_change_without_a_question(place: Place) -> None:
    place.allow(OPENAI)
    loaded = place.load(OPENAI.replace("}", ", batch_size: 3, timeout_seconds: 1}"))
    assert loaded.consent_request is None
    assert (loaded.settings.chain[0].batch_size, loaded.settings.chain[0].timeout_seconds) == (3, 1)


def test_a_consent_is_for_one_project(place: Place, tmp_path: Path) -> None:
    place.allow(OPENAI)
    other = tmp_path / "other"
    (other / ".cairn").mkdir(parents=True)
    (other / ".cairn" / "config.yaml").write_text(place.file.read_text())
    assert place.load(OPENAI, root=other).consent_request is not None
    (tmp_path / "link").symlink_to(place.root)  # the same project by another name
    assert place.load(OPENAI, root=tmp_path / "link").consent_request is None


@pytest.mark.parametrize(
    "project",
    [
        "{url: 'https://elsewhere.example/v1'}",
        "{provider: openai, model: own, url: 'https://elsewhere.example/v1'}",
        "{provider: openai, url: 'https://own.example.org/v1'}",
        "{provider: openai, url: 'https://own.example/v2'}",
        "{provider: google}",
        "{provider: ollama}",
        "{fallbacks: [{provider: openai, model: own, url: 'https://elsewhere.example/v1'}]}",
    ],
)
def test_the_key_that_the_user_named_for_one_server_goes_to_no_other(place: Place, project: str) -> None:
    loaded = place.load(project, OWN)
    assert [(one.model, one.key_variable) for one in loaded.settings.chain] == [("own", "OWN_KEY")]
    assert "OWN_KEY" not in asked_in(loaded).words
    place.allow(project, OWN)
    for one in place.load(project, OWN).settings.chain:
        assert one.key_variable != "OWN_KEY" or one.url == "https://own.example/v1"
    variables: dict[str, Any] = {"CAIRN_EMBEDDING_API_KEY_ENV": "OWN_KEY", "CAIRN_EMBEDDING_KEYRING_SERVICE": "bank"}
    for one in asked_in(place.load(OPENAI.replace("}", ", url: 'https://x.example'}"), **variables)).models:
        assert (one.key_variable, one.keyring_service) == ("", "")


def test_another_model_of_the_users_own_server_is_asked_for_with_the_users_key(place: Place) -> None:
    loaded = place.load("{model: other}", OWN)
    assert asked_in(loaded).words == "openai:other at https://own.example/v1, with the key in OWN_KEY"
    place.allow("{model: other}", OWN)
    (model,) = place.load("{model: other}", OWN).settings.chain
    assert (model.model, model.url, model.key_variable) == ("other", "https://own.example/v1", "OWN_KEY")


def test_what_the_user_has_set_anyway_needs_no_question(place: Place) -> None:
    assert place.load(OPENAI, OPENAI).consent_request is None
    assert place.load("{provider: ollama, model: m}", CAIRN_EMBEDDING_PROVIDER="openai", CAIRN_EMBEDDING_MODEL="x") == (
        place.load("", CAIRN_EMBEDDING_PROVIDER="openai", CAIRN_EMBEDDING_MODEL="x")
    )
    user = "{provider: ollama, model: a, fallbacks: [{provider: openai, model: b}]}"
    loaded = place.load("{provider: openai, model: b, fallbacks: []}", user)
    assert loaded.consent_request is None
    assert [one.name for one in loaded.settings.chain] == ["openai:b"]


def test_a_project_may_do_without_a_model(place: Place) -> None:
    loaded = place.load("{provider: bundled}", OWN)
    assert (loaded.settings.chain, loaded.consent_request) == ((), None)


def test_a_model_that_the_project_completes_is_asked_for(place: Place) -> None:
    assert asked_in(place.load("{model: m}", "{provider: ollama}")).words == "ollama:m at http://localhost:11434"
    with pytest.raises(ConfigError, match=r"user/cairn/config.yaml:1: embedding.model must name the model"):
        place.load("{batch_size: 3}", "{provider: ollama}")


@pytest.mark.parametrize(
    "model", ["./model", "/srv/model", "../model", "~/model", ".cairn/model", "a/b/c", "a/../b", "a\\\\b", "-x", ""]
)
@pytest.mark.parametrize("provider", ["sentence-transformers", "fastembed"])
def test_a_project_names_no_folder_as_a_model(place: Place, provider: str, model: str) -> None:
    with pytest.raises(ConfigError, match=r"\.cairn/config.yaml:1: embedding.model"):
        place.load(f"{{provider: {provider}, model: {model!r}}}")


@pytest.mark.parametrize("model", ["a b", "modél", "a\u202eb"])
def test_a_project_asks_for_nothing_that_a_question_cannot_show(place: Place, model: str) -> None:
    with pytest.raises(ConfigError, match="plain ASCII"):
        place.load(f"{{provider: openai, model: '{model}'}}")
    with pytest.raises(ConfigError, match="must begin with http"):
        place.load(f"{{provider: openai, model: m, url: 'https://{model}.example'}}")
    assert place.load("", f"{{provider: openai, model: '{model}'}}").settings.chain[0].model == model


def test_fallbacks_of_a_project_keep_to_the_users_limits(place: Place) -> None:
    project = "{fallbacks: [{provider: ollama, model: m, batch_size: 99, timeout_seconds: 5}]}"
    user = "{provider: openai, model: x, batch_size: 7, requests_per_minute: 3, concurrency: 1}"
    place.allow(project, user)
    fallback = place.load(project, user).settings.chain[1]
    assert (fallback.batch_size, fallback.requests_per_minute, fallback.concurrency) == (7, 3, 1)
    assert fallback.timeout_seconds == 5


def test_a_model_is_described_by_where_texts_go_what_runs_and_which_key_is_read() -> None:
    said = describe(ModelSettings("openai", "m"))
    assert said == "openai:m at https://api.openai.com/v1, with the key in OPENAI_API_KEY"
    assert describe(ModelSettings("ollama", "m")) == "ollama:m at http://localhost:11434"
    assert "may download and runs here" in describe(ModelSettings("fastembed", "m"))


# What a stranger may write in the section, in whatever form; mostly what could be meant.
WRITTEN = {
    "provider": st.sampled_from(["openai", "openai", "ollama", "google", "bundled", "fastembed"]),
    "model": st.sampled_from(["m", "own", "org/m", "/m"]),
    "url": st.sampled_from(["https://own.example/v1", "https://x.example", "http://127.0.0.1:1", ""]),
    **{name: st.sampled_from(["0", "1", "9"]) for name in ("dimensions", "requests_per_minute", "max_input_tokens")},
    **{name: st.sampled_from(["1", "9999"]) for name in ("batch_size", "concurrency", "timeout_seconds")},
    **{name: st.sampled_from(["auto", "x "]) for name in ("query_prefix", "document_prefix")},
}
SECRET = {name: st.sampled_from(["OWN_KEY", "HOME", ""]) for name in ("api_key_env", "keyring_service")}


def mapping(optional: dict[str, st.SearchStrategy[str]]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries({}, optional=optional)


ONE_MODEL = st.sampled_from([WRITTEN] * 7 + [{**WRITTEN, **SECRET}]).flatmap(mapping)
FALLBACKS = st.lists(ONE_MODEL, max_size=2) | st.lists(ONE_MODEL, max_size=2).map(json.dumps)
SECTIONS = st.tuples(ONE_MODEL, st.none() | FALLBACKS).map(
    lambda both: both[0] if both[1] is None else {**both[0], "fallbacks": both[1]}
)
USERS = st.sampled_from(["", OWN, "{provider: ollama, model: m, batch_size: 7}", "{provider: ollama}"])


@settings(max_examples=300)
@given(section=SECTIONS, user=USERS)
def test_whatever_a_project_writes_it_asks_nobody_whom_the_user_did_not_name(
    section: dict[str, object], user: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = Place(tmp_path_factory.mktemp("any"))
    own: dict[str, ModelSettings] = {}
    with suppress(ConfigError):
        own = {digest_of(one): one for one in place.load("", user).settings.chain}
    try:
        loaded = place.load(json.dumps(section), user)
    except ConfigError:
        return
    for one in loaded.settings.chain:
        mine = own[digest_of(one)]
        assert one.batch_size <= mine.batch_size
        assert one.concurrency <= mine.concurrency
        assert one.timeout_seconds <= mine.timeout_seconds
    if loaded.consent_request is None:
        return
    assert not any(one.keyring_service or one.api_key_env == "HOME" for one in loaded.consent_request.models)
    loaded.consent_request.settle(allowed=True)
    for one in place.load(json.dumps(section), user).settings.chain:
        assert one.key_variable in ("", "OWN_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")
        assert one.key_variable != "OWN_KEY" or one.base_url == "https://own.example/v1"
        assert one.key_variable != "OPENAI_API_KEY" or one.base_url == "https://api.openai.com/v1"


# -- where answers are kept --------------------------------------------------------------------------------------------


def test_answers_are_kept_for_the_user_alone_and_outside_of_the_project(place: Place) -> None:
    files = deciding_files(place.root, place.environment)
    before = stamp_of(files)
    place.allow(OPENAI)
    (file,) = (one for one in place.state.rglob("*") if one.is_file())
    assert file.stat().st_mode & 0o777 == 0o600
    assert {one.stat().st_mode & 0o777 for one in file.parents[:2]} == {0o700}
    assert json.loads(file.read_text())["root"] == str(place.root)
    assert stamp_of(files) != before


@pytest.mark.parametrize("content", ["", "[]", "{}", "\0", '{"root": 1, "answers": 1}', "[" * 99_999, "\xff"])
def test_a_damaged_file_of_answers_holds_none_and_is_written_anew(place: Place, content: str) -> None:
    place.allow(OPENAI)
    file = Consents(place.state, place.root).file
    file.write_text(content)
    assert place.load(OPENAI).consent_request is not None
    place.allow(OPENAI)
    assert place.load(OPENAI).consent_request is None


def test_answers_that_others_could_write_count_for_nothing(place: Place) -> None:
    place.allow(OPENAI)
    file = Consents(place.state, place.root).file
    file.chmod(0o620)
    assert place.load(OPENAI).consent_request is not None
    file.chmod(0o600)
    assert place.load(OPENAI).consent_request is None
    file.parent.chmod(0o777)
    assert place.load(OPENAI).consent_request is not None
    with pytest.raises(StoreError, match="other users can write its folder"):
        place.allow(OPENAI)


def test_no_link_is_followed_to_the_answers(place: Place) -> None:
    place.allow(OPENAI)
    file = Consents(place.state, place.root).file
    planted = place.root / "answers.json"
    file.rename(planted)
    text = planted.read_text()
    file.symlink_to(planted)
    asked = asked_in(place.load(OPENAI))
    asked.settle(allowed=False)
    assert planted.read_text() == text
    file.unlink()
    os.mkfifo(file)
    assert place.load(OPENAI).consent_request is not None
    file.unlink()
    file.parent.rmdir()
    (place.root / "consent").mkdir()
    planted.rename(place.root / "consent" / file.name)
    file.parent.symlink_to(place.root / "consent")
    assert place.load(OPENAI).consent_request is not None
    with pytest.raises(StoreError):
        asked.settle(allowed=True)


def test_answers_to_many_questions_do_not_pile_up(place: Place) -> None:
    consents = Consents(place.state, place.root)
    for number in range(120):
        consents.record({f"{number}": "x"}, allowed=True)
    assert consents.answer("119")
    assert consents.answer("0") is None
    assert consents.file.stat().st_size < 10_000


def test_a_model_is_another_when_anything_that_a_consent_is_about_differs() -> None:
    models = [
        ModelSettings("openai", "m"),
        ModelSettings("openai", "n"),
        ModelSettings("google", "m"),
        ModelSettings("openai", "m", "https://x.example"),
        ModelSettings("openai", "m", api_key_env="X"),
        ModelSettings("openai", "m", keyring_service="x"),
        ModelSettings("openai", "m", dimensions=3),
        ModelSettings("openai", "m", query_prefix="x"),
        ModelSettings("openai", "m", document_prefix="x"),
        ModelSettings("openai", "m", max_input_tokens=3),
    ]
    assert len({digest_of(one) for one in models}) == len(models)
    assert digest_of(ModelSettings("openai", "m", batch_size=3)) == digest_of(models[0])
    assert digest_of(ModelSettings("openai", "m", "https://api.openai.com/v1")) != digest_of(models[0])
