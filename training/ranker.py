#!/usr/bin/env python3
"""Fit the trees of the ranker's second stage on questions about many repositories; see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from cairn.protocol.requests import SearchRequest
from cairn.search import learned
from cairn.search.answer import WEIGHTS, query_vector
from cairn.search.features import FEATURES, file_features
from cairn.search.query import Query, understand
from cairn.search.rank import first_stage
from cairn.search.score import Weights
from cairn.workspace import Workspace
from dataset import Question, Repository, load_repositories
from metrics import Target, path_matches
from metrics import ndcg as ndcg_of_ranks

# Questions of our own about packages that training/collect.py unpacks.
QUESTIONS = Path(__file__).parent / "questions.json"
FOLD = 3  # repositories that are left out together
TREES = 125
SCALE = 1 / Weights().learned  # a first-stage point is worth this much to the trees
# What the ablation leaves out together: (what, first feature, last feature).
GROUPS = (
    ("lexical scores of the best chunks", "lexical", "doc"),
    ("similarity of meaning", "joint", "path_dense"),
    ("coverage of the query's rare words", "cover", "density"),
    ("match with the file as a whole and its path", "file_lexical", "stem_terms"),
    ("what is true of the file", "mentions", "project_files"),
)
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
    "num_threads": 2,
    "verbose": -1,
}


class Cases(NamedTuple):
    """The questions of the benchmark, by which the trees are judged too, and those of our own."""

    bench: list[Case]
    own: list[Case]


class Case(NamedTuple):
    """One question. Shapes: features (n, n_features), totals (n,); `found` has the candidates of each target."""

    repository: str
    features: npt.NDArray[np.float32]
    totals: npt.NDArray[np.float32]
    found: list[list[int]]


def load_own(packages: Path) -> list[Repository]:
    """Return the packages that `QUESTIONS` asks about, from the folder that training/collect.py filled."""
    return [
        Repository(
            entry["source"],
            entry["language"],
            packages / entry["source"] / entry["folder"],
            tuple(
                Question(question["query"], "own", tuple(map(Target, question["relevant"])))
                for question in entry["questions"]
            ),
        )
        for entry in json.loads(QUESTIONS.read_text(encoding="utf-8"))
    ]


def load_cases(bench: Path, checkouts: Path, packages: Path, state: Path) -> Cases:
    """Index everything that is asked about and return what the trees see of all questions."""
    groups = (load_repositories(bench, checkouts), load_own(packages))
    return Cases(*([case for repository in group for case in cases_of(repository, state)] for group in groups))


def cases_of(repository: Repository, state: Path) -> list[Case]:
    """Index a repository and return what the trees see of each of its questions."""
    with Workspace.open(repository.folder, state_dir=state / repository.name) as workspace:
        workspace.index()
        return [_case(workspace, repository.name, question) for question in repository.questions]


def _case(workspace: Workspace, name: str, question: Question) -> Case:
    library, query = workspace._index.answer(lambda library: library), understood(question.query)
    snapshot, vector = library.snapshot, query_vector(library.model, query)
    scores = first_stage(snapshot, library.connection, query, vector, SearchRequest(query=""), WEIGHTS).scores
    blobs = learned.candidates(snapshot, scores)
    paths = [snapshot.files.paths[file] for file in snapshot.file_of_blob[blobs].tolist()]
    totals = [scores.total[snapshot.blob_rows[blob] : snapshot.blob_rows[blob + 1]].max() for blob in blobs.tolist()]
    found = [[i for i, path in enumerate(paths) if path_matches(path, target.path)] for target in question.targets]
    return Case(name, file_features(snapshot, vector, scores, blobs), np.array(totals), found)


def understood(text: str) -> Query:
    """Return a query that is to be ranked, also one that looks like a text or a pattern to be matched."""
    query = understand(text)
    return understand(text, "hybrid") if query.mode in ("literal", "regex") else query


def ndcg(scores: npt.NDArray[Any], case: Case) -> float:
    """Return NDCG@10 over files, whatever lines a target names."""
    place = {int(candidate): rank for rank, candidate in enumerate(np.argsort(-scores, kind="stable")[:10], 1)}
    return ndcg_of_ranks(
        [min((place[number] for number in found if number in place), default=None) for found in case.found]
    )


def fit(cases: list[Case], columns: list[int] | None = None, seed: int = 0) -> lightgbm.Booster:
    """Fit trees that correct the first stage."""
    chosen = columns if columns is not None else list(range(len(FEATURES)))
    labels = []
    for case in cases:
        label = np.zeros(len(case.totals))
        label[[number for found in case.found for number in found]] = 1
        labels.append(label)
    data = lightgbm.Dataset(
        np.concatenate([case.features[:, chosen] for case in cases]),
        np.concatenate(labels),
        group=[len(case.totals) for case in cases],
        init_score=SCALE * np.concatenate([case.totals for case in cases]),
    )
    return lightgbm.train({**PARAMETERS, "seed": seed}, data, TREES)


def cross_validate(cases: Cases, columns: list[int] | None = None, seed: int = 0) -> list[float]:
    """Return NDCG@10 of the benchmark's questions, each predicted by trees that never saw its repository.

    The seed decides which repositories are left out together, and what is random in fitting.
    """
    chosen = columns if columns is not None else list(range(len(FEATURES)))
    names = np.random.default_rng(seed).permutation(list(dict.fromkeys(case.repository for case in cases.bench)))
    result = []
    for place in range(0, len(names), FOLD):
        out = names[place : place + FOLD]
        trees = fit([case for case in (*cases.bench, *cases.own) if case.repository not in out], chosen, seed)
        for case in cases.bench:
            if case.repository in out:
                predicted = SCALE * case.totals + trees.predict(case.features[:, chosen])
                result.append(ndcg(predicted, case))
    return result


def to_data(trees: lightgbm.Booster) -> dict[str, Any]:
    """Return the trees as `cairn.search.learned` reads them."""
    return {
        "features": list(FEATURES),
        "trees": [_flat(tree["tree_structure"]) for tree in trees.dump_model()["tree_info"]],
    }


def _flat(root: dict[str, Any]) -> dict[str, Any]:
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
        values.append(round(node["leaf_value"], 5))
    padding = size - len(questions)
    return {
        "features": [node["split_feature"] for node in questions] + [0] * padding,
        "thresholds": [node["threshold"] for node in questions] + [0.0] * padding,
        "values": values,
    }


def main() -> int:
    """Fit, report and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", type=Path, help="folder of the benchmark")
    parser.add_argument("checkouts", type=Path, help="its repositories, laid out")
    parser.add_argument("packages", type=Path, help="what collect.py unpacked")
    parser.add_argument("--state", type=Path, required=True, help="where the indexes go")
    parser.add_argument("--out", type=Path, default=learned.DATA)
    parser.add_argument("--seeds", type=int, default=5, help="how often to leave out, each time by other folds")
    parser.add_argument("--ablate", action="store_true", help="also say what each group of features is worth")
    arguments = parser.parse_args()
    cases = load_cases(arguments.bench, arguments.checkouts, arguments.packages, arguments.state)
    for group, own in zip(("benchmark", "our own"), cases, strict=True):
        print(
            f"{group}: {len(own)} questions, first stage alone {np.mean([ndcg(case.totals, case) for case in own]):.4f}"
        )
    whole = _cross_validated_means(cases, arguments.seeds)
    print(f"benchmark with trees, left out: {whole.mean():.4f}, by seed {np.round(whole, 4)}", flush=True)
    arguments.out.write_text(json.dumps(to_data(fit([*cases.bench, *cases.own]))) + "\n", encoding="utf-8")
    if arguments.ablate:
        for group, first, last in GROUPS:
            dropped = range(FEATURES.index(first), FEATURES.index(last) + 1)
            rest = [column for column in range(len(FEATURES)) if column not in dropped]
            without = _cross_validated_means(cases, arguments.seeds, rest)
            print(f"without {group:<44} {(without - whole).mean():+.4f}", flush=True)
    return 0


def _cross_validated_means(cases: Cases, seeds: int, columns: list[int] | None = None) -> npt.NDArray[np.float64]:
    """Return the mean of `cross_validate` for each seed."""
    return np.array([np.mean(cross_validate(cases, columns, seed)) for seed in range(seeds)])


if __name__ == "__main__":
    raise SystemExit(main())
