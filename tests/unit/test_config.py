from __future__ import annotations

from pathlib import Path

import pytest

from cairn.config import Settings, load_settings, settings_files
from cairn.embedding.chain import find_key, price_of, warnings_of
from cairn.errors import ConfigError, ProviderKeyError
from cairn.model_settings import EmbeddingSettings, ModelSettings

KEY = "sk-this-is-secret-0123456789"


def load(tmp_path: Path, project: str = "", user: str = "", **environment: str) -> Settings:
    (tmp_path / "project" / ".cairn").mkdir(parents=True, exist_ok=True)
    (tmp_path / "user" / "cairn").mkdir(parents=True, exist_ok=True)
    (tmp_path / "project" / ".cairn" / "config.yaml").write_text(project)
    (tmp_path / "user" / "cairn" / "config.yaml").write_text(user)
    return load_settings(tmp_path / "project", {"XDG_CONFIG_HOME": str(tmp_path / "user"), **environment})


def refused(tmp_path: Path, project: str = "", user: str = "", **environment: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, project, user, **environment)
    assert caught.value.hint
    return caught.value


def test_nothing_set_means_the_bundled_model(tmp_path: Path) -> None:
    assert load(tmp_path) == Settings()
    assert Settings().chain == ()


def test_a_folder_of_settings_that_is_not_absolute_is_ignored(tmp_path: Path) -> None:
    of_user, _ = settings_files(tmp_path, {"XDG_CONFIG_HOME": "here"})
    assert of_user == settings_files(tmp_path, {})[0]


def test_later_places_win_setting_by_setting(tmp_path: Path) -> None:
    user = (
        "max_file_bytes: 7\nembedding:\n  provider: ollama\n  model: a\n  batch_size: 3\n  url: https://own.example\n"
    )
    project = "embedding:\n  model: b\n  dimensions: 256\n"
    settings = load(tmp_path, project, user, CAIRN_EMBEDDING_DIMENSIONS="128", CAIRN_EMBEDDING_BACKGROUND="no")
    assert settings.max_file_bytes == 7
    assert settings.embedding == EmbeddingSettings(
        "ollama", "b", "https://own.example", dimensions=128, batch_size=3, background=False
    )


def test_fallbacks_are_models_of_the_same_kind(tmp_path: Path) -> None:
    project = "embedding:\n  provider: ollama\n  model: a\n  fallbacks:\n    - {provider: fastembed, model: b}\n"
    chain = load(tmp_path, project).chain
    assert [one.name for one in chain] == ["ollama:a", "fastembed:b"]
    chain = load(tmp_path, project, CAIRN_EMBEDDING_FALLBACKS="[{provider: ollama, model: c}]").chain
    assert [one.name for one in chain] == ["ollama:a", "ollama:c"]


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("provider: nobody", "must be one of bundled, ollama"),
        ("provider: ollama", "embedding.model says which"),
        ("provider: ollama\n  model: m\n  batch_size: 0", "batch_size must be at least 1"),
        ("provider: ollama\n  model: m\n  batch_size: many", "embedding.batch_size must be int, not 'many'"),
        ("provider: ollama\n  model: m\n  timeout_seconds: .nan", "timeout_seconds must be at least"),
        ("provider: ollama\n  model: m\n  timeout_seconds: []", "embedding.timeout_seconds must be float"),
        ("provider: ollama\n  model: m\n  background: perhaps", "embedding.background must be bool, not 'perhaps'"),
        ("provider: ollama\n  model: m\n  fallbacks: other", "fallbacks must be a list"),
        ("provider: ollama\n  model: m\n  fallbacks: [{colour: red}]", "unknown setting 'embedding.colour'"),
        ("provider: ollama\n  model: m\n  fallbacks: [red]", "each of its fallbacks"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_says_what(tmp_path: Path, section: str, said: str) -> None:
    assert said in str(refused(tmp_path, f"embedding:\n  {section}\n"))


def test_a_section_that_is_none_is_an_error(tmp_path: Path) -> None:
    assert "embedding must hold" in str(refused(tmp_path, "embedding: ollama\n"))


@pytest.mark.parametrize("url", ["ftp://host", "localhost:11434", "http://", "http://[::1", "http://host:99999"])
def test_a_url_must_be_one(tmp_path: Path, url: str) -> None:
    user = f"embedding: {{provider: ollama, model: m, url: '{url}'}}"
    assert "embedding.url must begin with http" in str(refused(tmp_path, user=user))


@pytest.mark.parametrize(
    "line",
    [
        f"api_key: {KEY}",
        f"token: {KEY}",
        f"api_key_env: {KEY}",
        f"api_key_env: '{KEY} '",
        f"url: https://user:{KEY}@host/v1",
        f"url: https://host/v1?key={KEY}",
        f"batch_size: {KEY}",
    ],
)
@pytest.mark.parametrize("place", ["project", "user"])
def test_a_key_in_a_settings_file_is_refused_and_not_repeated(tmp_path: Path, line: str, place: str) -> None:
    error = refused(tmp_path, **{place: f"embedding:\n  provider: openai\n  model: m\n  {line}\n"})
    assert KEY not in f"{error} {error.hint} {error.__cause__!r} {error.__context__!r}"


def test_a_broken_file_is_told_without_its_lines(tmp_path: Path) -> None:
    error = refused(tmp_path, f"embedding:\n  api_key: {KEY}: [\n")
    assert "line 2" in str(error)
    assert KEY not in f"{error}"


@pytest.mark.parametrize(
    "line", ["url: https://elsewhere.example/v1", "api_key_env: AWS_SECRET_ACCESS_KEY", "keyring_service: bank"]
)
def test_a_projects_file_may_not_send_texts_or_secrets_anywhere(tmp_path: Path, line: str) -> None:
    section = f"embedding:\n  provider: openai\n  model: m\n  {line}\n"
    assert f"may not set embedding.{line.split(':')[0]}" in str(refused(tmp_path, project=section))
    fallback = f"embedding:\n  fallbacks:\n    - provider: openai\n      model: m\n      {line}\n"
    assert f"may not set embedding.{line.split(':')[0]}" in str(refused(tmp_path, project=fallback))
    assert load(tmp_path, user=section).chain[0].model == "m"


@pytest.mark.parametrize("url", ["http://localhost:1234/v1", "http://127.0.0.1:8000/v1", "http://[::1]:8000"])
def test_a_projects_file_may_name_a_server_of_this_machine(tmp_path: Path, url: str) -> None:
    assert load(tmp_path, f"embedding: {{provider: openai, model: m, url: '{url}'}}").chain[0].stays_here


def test_a_host_that_only_looks_like_this_machine_is_another() -> None:
    for url in ("http://localhost.example.org", "http://127.0.0.1.example.org", "http://128.0.0.1"):
        assert not ModelSettings("ollama", "m", url).stays_here


def test_texts_and_keys_sent_in_the_clear_are_warned_about() -> None:
    plain = ModelSettings("openai", "m", "http://gpu.example.org/v1", api_key_env="MY_KEY")
    assert "the key and all texts can be read on the way" in warnings_of(plain, {"MY_KEY": KEY})[0]
    assert "not encrypted: all texts" in warnings_of(plain, {})[0]
    assert warnings_of(ModelSettings("openai", "m", "http://localhost:1234/v1")) == []
    assert warnings_of(ModelSettings("openai", "m")) == []


def test_prices_are_known_set_free_or_unknown() -> None:
    assert price_of(ModelSettings("openai", "text-embedding-3-small")) == 0.02
    assert price_of(ModelSettings("openai", "text-embedding-3-small", price_per_million_tokens=1.5)) == 1.5
    assert price_of(ModelSettings("ollama", "nomic-embed-text")) == 0
    assert price_of(ModelSettings("openai", "m", "https://models.example.org/v1")) is None


def test_a_key_comes_from_the_environment_first() -> None:
    settings = ModelSettings("google", "gemini-embedding-001", keyring_service="cairn")
    assert find_key(settings, {"GEMINI_API_KEY": f" {KEY}\n"}) == KEY


def test_a_missing_keyring_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "keyring", None)
    with pytest.raises(ProviderKeyError, match="keyring is not installed") as caught:
        find_key(ModelSettings("openai", "m", keyring_service="cairn"), {})
    assert caught.value.hint == "uv tool install 'codecairn[keyring]'"
