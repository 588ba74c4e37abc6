"""Records what another tokenizer and float32 arithmetic make of a table, for the tests of the run-time loader."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from tables import Floats, Table

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


def make_tokenizer(pieces: list[str]) -> Tokenizer:
    """Return BERT's tokenizer over these pieces."""
    vocabulary = {piece: number for number, piece in enumerate([*pieces, "[UNK]"])}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def sample_words(pieces: list[str]) -> list[str]:
    """Return a few hundred words: of code, with accents, in other scripts, made up, too long."""
    pick = random.Random(0)  # a reproducible sample
    whole = [token for token in sorted(pieces) if token.isascii() and token.isalnum()]
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


def record(table: Table, folder: Path) -> None:
    """Write the pieces of a few hundred words, some sentences, and the vectors of the sentences."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [piece.decode() for piece in table.pieces.tolist()]
    tokenizer = make_tokenizer(names)
    pieces = {
        word: [token for token in tokenizer.encode(word).tokens if token != "[UNK]"] for word in sample_words(names)
    }
    lines = ",\n".join(f" {json.dumps(word)}: {json.dumps(found)}" for word, found in pieces.items())
    (folder / "pieces.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    (folder / "sentences.txt").write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    # float16 moves a cosine by less than a millionth and halves the file
    np.save(folder / "sentences.npy", np.stack([_pool(tokenizer, table.vectors, sentence) for sentence in SENTENCES]))


def _pool(tokenizer: Tokenizer, vectors: Floats, sentence: str) -> np.ndarray:
    known = [number for number in tokenizer.encode(sentence).ids if number < len(vectors)]
    pooled = vectors[known].sum(axis=0)
    return (pooled / np.linalg.norm(pooled)).astype(np.float16)
