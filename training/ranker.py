#!/usr/bin/env python3
"""Fit the trees of the ranker's second stage on the cases of many repositories; see README.md beside this file.

Whole repositories are left out to judge them: of what is fitted, and of how much it counts.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import numpy.typing as npt

from cairn.search import learned
from cairn.search.features import FEATURES, WORK_ITEM_FEATURES
from cairn.search.score import ANSWERING_ROLES, Weights
from cases import Case, judged_projects, load_cases
from metrics import ndcg as ndcg_of_ranks

FOLDS = 6
TREES = 125
SCALE = 1 / Weights().learned  # a first-stage point is worth this much to the trees
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
_SAMPLES = 2_000  # of the bootstrap
PARAMETERS = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 15,
    "learning_rate": 0.06,
    "num_leaves": 4,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}


class Kind(NamedTuple):
    """Cases that have trees of their own.

    Attributes:
        features: what their trees see.
        share: how much of what the trees say counts, by repositories left out.
        out: the file of the trees.
        kinds: those of the cases that they are fitted on.
        rising: features of which more may only raise a file, whatever the cases say.
    """

    features: tuple[str, ...]
    share: float
    out: Path
    kinds: frozenset[str]
    rising: frozenset[str] = frozenset()


QUESTIONS = Kind(
    FEATURES,
    0.75,
    learned.DATA,
    frozenset({"question", "own"}),
    frozenset(
        {"lexical", "name", "doc", "joint", "path_dense", "density", "stem"}
        | {"cover", "cover_name", "cover_doc", "cover_stem"}
    ),
)
WORK_ITEMS = Kind(
    WORK_ITEM_FEATURES,
    0.75,
    learned.WORK_ITEM_DATA,
    frozenset({"subject", "message", "commit", "issue", "task"}),
)
KINDS = (QUESTIONS, WORK_ITEMS)


def kind_of(case: Case) -> Kind:
    """Return whose trees a case is ranked by, whichever it is fitted with."""
    return WORK_ITEMS if case.is_work_item else QUESTIONS


def seen(case: Case, kind: Kind) -> npt.NDArray[np.float32]:
    """Return what the trees of a kind see of the files that the second stage looks at, shape (n, n_features)."""
    columns = [case.features, *(case.parts[name][:, None] for name in kind.features[len(FEATURES) :])]
    return np.hstack(columns)[: learned.CANDIDATES]


def labels(case: Case) -> npt.NDArray[np.float64]:
    """Return 1 for each file that is right, 0 for the others."""
    label = np.zeros(len(case.totals))
    label[[number for found in case.found for number in found]] = 1
    return label[: learned.CANDIDATES]


def corrected(case: Case, opinion: npt.NDArray[Any], share: float) -> npt.NDArray[Any]:
    """Return the scores of a case's files after the second stage, as `learned.correct` has them."""
    opinion = opinion.copy()
    unjudged = (case.roles[: len(opinion)] & int(ANSWERING_ROLES)) > 0
    opinion[unjudged] = opinion.max()
    scores: npt.NDArray[Any] = case.totals.astype(np.float64)
    scores[: len(opinion)] += share / SCALE * opinion
    return scores


def order_of(scores: npt.NDArray[Any], case: Case) -> list[int]:
    """Return the files of a case, best first."""
    first = sorted(case.first, key=lambda number: -scores[number])
    ordered = np.argsort(-np.round(scores, 5), kind="stable").tolist()
    return [*first, *(number for number in ordered if number not in first)]


def ndcg(scores: npt.NDArray[Any], case: Case) -> float:
    """Return NDCG@10 over files, whatever lines a target names."""
    place = {number: rank for rank, number in enumerate(order_of(scores, case)[:10], 1)}
    return ndcg_of_ranks(
        [min((place[number] for number in found if number in place), default=None) for found in case.found]
    )


def rank_of(scores: npt.NDArray[Any], case: Case) -> int:
    """Return the rank of the first file that is right, from 1; one more than there are files if none is."""
    right = {number for found in case.found for number in found}
    return next((rank for rank, number in enumerate(order_of(scores, case), 1) if number in right), len(scores) + 1)


def fit(cases: Iterable[Case], kind: Kind, seed: int = 0) -> lightgbm.Booster:
    """Fit trees that correct the first stage of a kind of cases."""
    chosen = [case for case in cases if case.kind in kind.kinds and labels(case).any()]
    data = lightgbm.Dataset(
        np.concatenate([seen(case, kind) for case in chosen]),
        np.concatenate([labels(case) for case in chosen]),
        group=[len(labels(case)) for case in chosen],
        init_score=SCALE * np.concatenate([case.totals[: learned.CANDIDATES] for case in chosen]),
    )
    rising = [int(name in kind.rising) for name in kind.features]
    constraints = {"monotone_constraints": rising, "monotone_constraints_method": "advanced"} if any(rising) else {}
    return lightgbm.train({**PARAMETERS, **constraints, "seed": seed}, data, TREES)


def opinions(trees: lightgbm.Booster, cases: Sequence[Case], kind: Kind) -> list[npt.NDArray[Any]]:
    """Return what trees say of the files of cases."""
    if not cases:
        return []
    said = trees.predict(np.concatenate([seen(case, kind) for case in cases]))
    return np.split(said, np.cumsum([len(labels(case)) for case in cases])[:-1])


def cross_validate(cases: Sequence[Case], seed: int = 0) -> list[npt.NDArray[Any]]:
    """Return what trees that never saw its project say of each case.

    The seed decides which projects are left out together, and what is random in fitting. Projects by which the result
    is judged take part in no fitting.
    """
    names = np.random.default_rng(seed).permutation(sorted({case.project for case in cases}))
    fold_of = {str(name): place % FOLDS for place, name in enumerate(names)}
    judged = judged_projects()
    found: list[npt.NDArray[Any]] = [np.zeros(0)] * len(cases)
    for fold in range(FOLDS):
        known = [case for case in cases if fold_of[case.project] != fold and case.project not in judged]
        for kind in KINDS:
            out = [n for n, case in enumerate(cases) if fold_of[case.project] == fold and kind_of(case) == kind]
            trees = fit(known, kind, seed)
            for number, said in zip(out, opinions(trees, [cases[n] for n in out], kind), strict=True):
                found[number] = said
    return found


def cross_kinds(cases: Sequence[Case], seed: int = 0) -> list[npt.NDArray[Any]]:
    """Return what trees say of questions that were fitted on those of the other author only, of none of the others.

    Whoever else asks writes in neither style: this tells how much the trees carry over.
    """
    found: list[npt.NDArray[Any]] = [np.zeros(0)] * len(cases)
    for kind in QUESTIONS.kinds:
        trees = fit([case for case in cases if case.kind in QUESTIONS.kinds - {kind}], QUESTIONS, seed)
        out = [number for number, case in enumerate(cases) if case.kind == kind]
        for number, said in zip(out, opinions(trees, [cases[number] for number in out], QUESTIONS), strict=True):
            found[number] = said
    return found


def title_of(case: Case) -> str:
    """Return under which title a case is reported."""
    half = ", judging" if case.project in judged_projects() and case.kind not in QUESTIONS.kinds else ""
    return f"{case.kind}{' with history' if case.has_history else ''}{half}"


def report(cases: Sequence[Case], said: Sequence[npt.NDArray[Any]]) -> None:
    """Print NDCG@10, the share of cases with a right file first and in five, by kind and by share of the trees."""
    shown = [number for number, case in enumerate(cases) if case.kind != "stranger"]
    for title in sorted({title_of(cases[number]) for number in shown}):
        own = [number for number in shown if title_of(cases[number]) == title]
        print(f"{title}: {len(own)}")
        for share in SHARES:
            scores = [corrected(cases[number], said[number], share) for number in own]
            pairs = [(one, cases[number]) for one, number in zip(scores, own, strict=True)]
            ranks = np.array([rank_of(*pair) for pair in pairs])
            mean = np.mean([ndcg(*pair) for pair in pairs])
            print(f"  {share:.2f} of the trees: {mean:.4f}, first {(ranks == 1).mean():.3f}, "
                  f"in five {(ranks <= 5).mean():.3f}")  # fmt: skip


def report_history(cases: Sequence[Case], said: Sequence[npt.NDArray[Any]]) -> None:
    """Print what the history gains for subjects of commits, by repository, with intervals of 95 %."""
    values: dict[str, dict[str, dict[bool, float]]] = {}
    for case, opinion in zip(cases, said, strict=True):
        if case.kind == "subject":
            value = ndcg(corrected(case, opinion, kind_of(case).share), case)
            values.setdefault(case.project, {}).setdefault(case.text, {})[case.has_history] = value
    means = []
    for project, texts in values.items():
        rows = np.array([[both[False], both[True]] for both in texts.values() if len(both) == 2])
        gains = rows[:, 1] - rows[:, 0]
        picks = np.random.default_rng(1).integers(0, len(gains), (_SAMPLES, len(gains)))
        low, high = np.percentile(gains[picks].mean(axis=1), (2.5, 97.5))
        means.append(rows.mean(axis=0))
        print(f"{project:<36}{len(rows):>4}{means[-1][0]:>8.3f}{means[-1][1]:>8.3f}   {low:+.3f} to {high:+.3f}")
    without, with_history = np.mean(means, axis=0)
    print(f"{'mean':<40}{without:>8.3f}{with_history:>8.3f}   {100 * (with_history / without - 1):+.1f} %")


def to_data(trees: lightgbm.Booster, kind: Kind) -> dict[str, Any]:
    """Return the trees as `cairn.search.learned` reads them."""
    return {
        "features": list(kind.features),
        "trees": [_flat(tree["tree_structure"], kind.share) for tree in trees.dump_model()["tree_info"]],
    }


def _flat(root: dict[str, Any], share: float) -> dict[str, Any]:
    """Return a tree's questions, and the value it gives for each pattern of their answers, the first the lowest bit."""
    questions: list[dict[str, Any]] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if "leaf_value" not in node:
            questions.append(node)
            pending += [node["left_child"], node["right_child"]]
    size = PARAMETERS["num_leaves"] - 1
    values = []
    for pattern in range(1 << size):
        node = root
        while "leaf_value" not in node:
            yes = pattern >> questions.index(node) & 1
            node = node["left_child" if yes else "right_child"]
        values.append(round(share * node["leaf_value"], 5))
    padding = size - len(questions)
    return {
        "features": [node["split_feature"] for node in questions] + [0] * padding,
        "thresholds": [node["threshold"] for node in questions] + [0.0] * padding,
        "values": values,
    }


def main() -> int:
    """Fit, report and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, help="what cases.py made")
    parser.add_argument("--seed", type=int, default=0, help="decides which repositories are left out together")
    parser.add_argument(
        "--across", action="store_true", help="fit on the questions of one author, and judge by those of the other"
    )
    parser.add_argument(
        "--write", action="store_true", help="fit on all repositories but those that judge, and ship it"
    )
    arguments = parser.parse_args()
    cases = load_cases(arguments.cases)
    if arguments.across:
        asked = [case for case in cases if case.kind in QUESTIONS.kinds]
        report(asked, cross_kinds(asked, arguments.seed))
        return 0
    if arguments.write:
        judged = judged_projects()
        known = [case for case in cases if case.project not in judged]
        for kind in KINDS:
            kind.out.write_text(json.dumps(to_data(fit(known, kind), kind)) + "\n", encoding="utf-8")
        return 0
    said = cross_validate(cases, arguments.seed)
    report(cases, said)
    report_history(cases, said)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
