"""Random requests by the OpenAPI document: no 5xx but what it names, and no answer that it does not describe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from cairn.daemon.http import Route
from cairn.daemon.routes import all_routes
from serving import TOKEN, make_app, serving

# More by: CAIRN_TEST_EXAMPLES=300 pytest tests/integration/test_api_contract.py
EXAMPLES = int(os.environ.get("CAIRN_TEST_EXAMPLES", "8"))
HEADERS = {"authorization": f"Bearer {TOKEN}"}
CODE = "def tax(price):\n    return price\n\n\ndef total(prices):\n    return tax(prices)\n"
ROUTES = [route for route in all_routes() if route.path != "/api/shutdown"]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    """The description of a daemon that runs, with a project."""
    folder: Path = tmp_path_factory.mktemp("contract")
    root = folder / "shop"
    root.mkdir()
    (root / "tax.py").write_text(CODE)
    with serving(make_app(folder / "state", root)) as served:
        yield schemathesis.openapi.from_url(f"http://127.0.0.1:{served.port}/openapi.json", headers=HEADERS)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_every_answer_is_as_it_is_described(described: schemathesis.BaseSchema, route: Route) -> None:
    operation = described[route.path][route.method]
    good = operation.as_strategy()
    bad = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @given(case=st.one_of(good, bad) if route.request else good)
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def check(case: schemathesis.Case) -> None:  # type: ignore[type-arg] # of any kind
        # That the token is needed is tested elsewhere; here it is sent behind that check's back. A request may be of
        # the right form and name a file or a symbol that is not there.
        excluded = [ignored_auth, positive_data_acceptance, *([not_a_server_error] if route.unavailable else [])]
        case.call_and_validate(headers=HEADERS, timeout=60, excluded_checks=excluded)

    check()
