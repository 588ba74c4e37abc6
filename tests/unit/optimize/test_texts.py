"""Texts are improved with a chat model, within a budget, and used only if held-out examples say so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from cairn.memory.chat import ChatClient, ChatReply
from cairn.memory.summaries import read_object
from cairn.memory_settings import MemorySettings
from cairn.optimize.chatting import MeteredChat, TextBudget
from cairn.optimize.examples import Example, WantedFile
from cairn.optimize.text_kinds import SummaryPrompt, ToolDescriptions, read_rewrites, write_rewrites
from cairn.optimize.text_run import TextProposal, TextWork, propose_texts, why_not
from cairn.search.library import Library
from cairn.search.tuning import SHIPPED
from chat_server import ChatServer

NONE: Library = None  # type: ignore[assignment] # no search is made
# The prompt has a weakness: nobody asks for the names of files.
PROMPT = (
    "Sum up the session of the user's message as one JSON object with title, summary and candidates. " + "Be brief. "
)
BETTER = PROMPT + "Name every changed file."
TOOLS = {
    "search": "Finds things in a project and does so in a rather general manner, for whatever purpose.",
    "recall": "Finds what earlier sessions learned: call it for decisions and known pitfalls.",
}
CLEAR = "Find code by what it does: call it first for any question of where code is."


def digests(count: int = 60) -> list[Example]:
    found = []
    for number in range(count):
        text = json.dumps({"digest": f"Changed: src/part{number}.py, src/piece{number}.py", "candidates": []})
        wanted = WantedFile(f"src/part{number}.py"), WantedFile(f"src/piece{number}.py")
        found.append(Example(text, wanted, (), f"s{number}", float(number)))
    return found


def tasks(count: int = 60) -> list[Example]:
    return [
        Example(f"where is the {number}th thing kept", (WantedFile("search"),), (), f"s{number}", float(number))
        for number in range(count)
    ]


def model(system: str, question: str) -> str:
    """Answer as a model does that follows instructions to the letter."""
    if system.startswith("You improve one text"):
        asked = json.loads(question)
        return json.dumps({"text": BETTER if asked["name"] == "summary" else CLEAR})
    if system.startswith("You are a coding agent"):
        return json.dumps({"tool": "search" if "where code is" in system else "shell"})
    files = json.loads(question)["digest"].partition(": ")[2] if "Name every" in system else "something"
    return json.dumps({"title": "Some work", "summary": f"This changed {files}.", "candidates": []})


class Direct:
    """A model in this process, which counts what it is asked."""

    def __init__(self, script: Callable[[str, str], str]) -> None:
        self.requests: list[str] = []
        self.script = script

    def ask(self, system: str, question: str) -> ChatReply:
        self.requests.append(question)
        return ChatReply(self.script(system, question), 200, 50)


def chat_to(
    script: Callable[[str, str], str], budget: TextBudget | None = None, replies: dict[str, str] | None = None
) -> tuple[Direct, MeteredChat]:
    direct = Direct(script)
    return direct, MeteredChat(direct.ask, budget or TextBudget(400, 1_000_000), replies)


@contextmanager
def chat_with(
    script: Callable[[str, str], str] | None,
    provider: str = "ollama",
    timeout: float = 5.0,
) -> Iterator[tuple[ChatServer, MeteredChat]]:
    server = ChatServer(script=script)
    settings = MemorySettings(
        chat_provider=provider, chat_model="tiny", chat_url=server.url, chat_timeout_seconds=timeout
    )
    try:
        yield server, MeteredChat(ChatClient(settings).ask, TextBudget(400, 1_000_000))
    finally:
        server.close()


def improve(chat: MeteredChat, work: TextWork | None = None, seed: int = 1) -> TextProposal:
    return propose_texts(NONE, SHIPPED, [work or TextWork(SummaryPrompt(PROMPT), digests())], chat, seed=seed)


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_weak_prompt_and_a_weak_description_are_improved(provider: str) -> None:
    works = [TextWork(SummaryPrompt(PROMPT), digests(42)), TextWork(ToolDescriptions(TOOLS, ["search"]), tasks(42))]
    with chat_with(model, provider) as (server, chat):
        proposal = propose_texts(NONE, SHIPPED, works, chat, seed=1)
        assert len(server.requests) == chat.calls
        assert {path for path, *_ in server.requests} == {"/api/chat" if provider == "ollama" else "/chat/completions"}
    assert proposal.tuning.texts == {"summary": BETTER, "tool.search": CLEAR}
    assert proposal.is_new
    for name in ("summary", "tools"):
        report = proposal.report[name]
        assert (report["passed"], report["gain"]["low"] > 0.3) == (True, True)
        assert report["after"] > report["before"]


def test_the_same_seed_and_answers_give_the_same_text_without_paying_twice() -> None:
    replies: dict[str, str] = {}
    _, chat = chat_to(model, replies=replies)
    first = improve(chat)
    direct, again = chat_to(model, replies=replies)
    second = improve(again)
    assert chat.calls > 0
    assert direct.requests == []
    assert (second.tuning, second.report["summary"]) == (first.tuning, first.report["summary"])


def test_an_interrupted_run_pays_only_for_what_it_had_not_asked() -> None:
    _, whole = chat_to(model)
    first = improve(whole)
    replies: dict[str, str] = {}
    count = 0

    def until_stopped(system: str, question: str) -> str:
        nonlocal count
        count += 1
        if count > 50:
            raise KeyboardInterrupt
        return model(system, question)

    _, stopped = chat_to(until_stopped, replies=replies)
    with pytest.raises(KeyboardInterrupt):
        improve(stopped)
    _, resumed = chat_to(model, replies=replies)
    assert improve(resumed).tuning == first.tuning
    assert resumed.calls == whole.calls - 50


@pytest.mark.parametrize(
    "text",
    ["", "I am only a language model.", '{"text": "Name ev', '{"text": 7}', '{"text": ""}', "[]", "{" * 5_000, "null"],
)
def test_nonsense_and_truncated_json_change_nothing(text: str) -> None:
    _, chat = chat_to(lambda system, question: text)
    proposal = improve(chat)
    assert (proposal.is_new, proposal.tuning) == (False, SHIPPED)
    assert proposal.report["summary"]["reasons"] == ["no text was better on the examples"]


def test_a_model_that_proposes_something_worse_changes_nothing() -> None:
    def contrary(system: str, question: str) -> str:
        if system.startswith("You improve"):
            return json.dumps({"text": "Say nothing at all, and in particular no JSON. " * 3})
        return model(system, question)

    assert not improve(chat_to(contrary)[1]).is_new


def test_a_gain_that_may_be_chance_does_not_pass() -> None:
    def fickle(system: str, question: str) -> str:
        if system.startswith("You improve"):
            return model(system, question)
        number = int(json.loads(question)["digest"].partition("part")[2].partition(".")[0])
        names_files = ("Name every" in system) == (number % 2 == 0 or number < 42)
        return model("Name every" if names_files else "", question)

    proposal = improve(chat_to(fickle)[1])
    assert not proposal.is_new
    assert proposal.report["summary"]["reasons"][0].startswith("the gain is not certain")


@pytest.mark.parametrize(("status", "body"), [(500, ""), (404, "no such model"), (200, "{"), (200, '{"message": 1}')])
def test_a_server_that_fails_is_left_alone_after_a_few_times(status: int, body: str) -> None:
    with chat_with(model) as (server, chat):
        server.status, server.body = status, body
        proposal = improve(chat)
        assert len(server.requests) == 4
    assert not proposal.is_new
    assert proposal.report["summary"]["reasons"][0].startswith("the chat model failed 4 times in a row")


def test_a_server_that_does_not_answer_in_time_is_left_alone() -> None:
    with chat_with(model, timeout=0.05) as (server, chat):
        server.stalls = True
        proposal = improve(chat)
        server.stall.set()
    assert not proposal.is_new
    assert chat.problem.startswith("the chat model failed 4 times in a row")


def test_single_errors_on_the_way_are_survived() -> None:
    count = 0

    def moody(system: str, question: str) -> str:
        nonlocal count
        count += 1
        return "Sorry, what?" if count % 9 == 0 else model(system, question)

    assert improve(chat_to(moody)[1]).is_new


@pytest.mark.parametrize("budget", [TextBudget(150, 1_000_000), TextBudget(400, 20_000), TextBudget(0, 0)])
def test_a_budget_is_never_exceeded(budget: TextBudget) -> None:
    direct, chat = chat_to(model, budget)
    proposal = improve(chat)
    assert len(direct.requests) == chat.calls <= budget.calls
    assert chat.tokens <= budget.tokens
    assert proposal.report["calls"] == chat.calls


def test_time_is_a_budget_too() -> None:
    now = 0.0

    def tick(system: str, question: str) -> str:
        nonlocal now
        now += 1.0
        return model(system, question)

    chat = MeteredChat(Direct(tick).ask, TextBudget(400, 1_000_000, 30.0), clock=lambda: now)
    proposal = improve(chat)
    assert chat.calls == 31
    assert not proposal.is_new
    assert "30 seconds are over" in chat.problem


def test_few_examples_are_not_enough_and_nobody_is_asked() -> None:
    direct, chat = chat_to(model)
    proposal = improve(chat, TextWork(SummaryPrompt(PROMPT), digests(39)))
    assert direct.requests == []
    assert proposal.report["summary"]["reasons"] == ["there are 39 examples; 40 are needed"]


def test_a_description_may_not_cost_agents_more_and_a_prompt_must_ask_for_json() -> None:
    tools = ToolDescriptions(TOOLS, ["search"])
    assert tools.fit("tool.search", CLEAR) == CLEAR
    assert tools.fit("tool.search", CLEAR * 2) is None
    assert tools.fit("tool.search", "Find\n\ncode by what it does  ") == "Find code by what it does"
    assert SummaryPrompt(PROMPT).fit("summary", "Write a poem. " * 20) is None
    assert SummaryPrompt(PROMPT).fit("summary", BETTER * 40) is None


def test_a_summary_is_worth_more_that_names_files_invents_none_and_judges_candidates_rightly() -> None:
    candidates = [{"id": 1, "type": "gotcha", "text": "a"}, {"id": 2, "type": "gotcha", "text": "b"}]
    digest = {"digest": "Changed: src/cart.py", "candidates": candidates}
    example = Example(json.dumps(digest), (WantedFile("src/cart.py"),), ("2",))

    def worth(summary: str, keep: tuple[bool, bool]) -> float:
        judged = [{"id": id, "keep": kept, "type": "gotcha"} for id, kept in enumerate(keep, 1)]
        text = json.dumps({"title": "Work", "summary": summary, "candidates": judged})
        _, chat = chat_to(lambda system, question: text)
        score = SummaryPrompt(PROMPT).run(example, {"summary": PROMPT}, chat).score
        assert score is not None
        return score

    good = worth("The cart was mended.", (True, False))
    assert good == 1.0
    assert worth("It was mended.", (True, False)) < good
    assert worth("The cart and api.py were mended.", (True, False)) < good
    assert worth("The cart was mended.", (False, True)) < good
    assert worth("The cart was mended " * 60, (True, False)) < good


def test_rewrites_are_read_line_by_line_and_what_is_none_is_left_out() -> None:
    text = "Here you are:\nzorb: wallet, purse\n- nothing\nKlimp:harbour\nbad line: !!!\n"
    assert write_rewrites(read_rewrites(text)) == "klimp: harbour\nzorb: wallet purse"


def test_an_object_is_found_within_a_fence_and_after_thoughts() -> None:
    assert read_object('<think>{"a": 1}</think>Sure:\n```json\n{"b": 2}\n```') == {"b": 2}
    assert read_object("no") is None


def test_without_a_chat_model_nothing_is_tried_and_the_reason_is_given() -> None:
    assert why_not("") == "no chat model is configured"
    assert why_not("ollama") == ""
