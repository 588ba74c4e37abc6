"""Which roles of files a question asks for, as far as its words tell: tests, examples, documentation, configuration."""

from __future__ import annotations

import re

from cairn.source.roles import Role

_ROLE_WORDS = (
    (
        Role.TEST,  # what runs tests is code
        r"\b(test(s|ing)?(?! (client|double|framework|harness|kit|runner)s?\b)|tested|specs?|fixtures?|mock(s|ed)?"
        r"|assert\w*)\b",
    ),
    (
        Role.EXAMPLE,
        r"\b((?<!for )examples?|sample (app(lication)?s?|code|files?|programs?|projects?|scripts?|usage)|code samples?"
        r"|demos?|benchmarks?|tutorials?)\b",
    ),
    (
        Role.DOCS,
        r"\b(docs?(?![ -](comments?|strings?))|documentation|documented|readme|changelog|guides?|licen[cs]e"
        r"|release notes?|instructions?|steps (for|to)|(build|install\w*|migration|release|set-?up|upgrade) steps"
        r"|tutorial|quick ?start|getting started|contribut\w*|troubleshoot\w*|explanation|what changed|notice file"
        r"|(copyright|legal|licen[cs]e|third[- ]party) notices?|how (do|can|should|to) (i|we|you)"
        r"|what (do|should) (i|we)|how to)\b|^what to do\b",
    ),
    (
        Role.CONFIG,
        r"\b(docker\w*|makefiles?|tox|npm|ci|continuous integration|github (actions?|workflows?)|compiler options"
        r"|(build|ci|test) matrix|(build|ci|deployment|release) pipelines?|package\.json|pyproject|\w+\.ya?ml)\b",
    ),
    (
        Role.OTHER_PLATFORM,
        r"\b(windows|win32|win64|macos|mac|darwin|osx|ios|linux|posix|unix|kqueue|fsevents|epoll)\b",
    ),
    (Role.OLD_VERSION, r"\bv\d+\b|\bversion \d"),
    (
        Role.GENERATED,
        r"^generated\b|\b(generated (code|files?|class(es)?|clients?|sources?|types?)|auto-?generated"
        r"|(type|grpc|client|server) stubs?|stub files?|protobufs?|lock ?files?|minified|bundles?|snapshots?)\b"
        r"|\.pb\.|_pb2?\b",
    ),
    (Role.VENDORED, r"\b(vendored|vendor|third[- ]part(y|ies)|3rd[- ]party|bundled cop(y|ies))\b"),
    (
        Role.TRANSLATION,
        r"\b(arabic|bulgarian|catalan|chinese|czech|danish|dutch|estonian|finnish|french|german|greek|hebrew|hindi|hungarian"
        r"|indonesian|italian|japanese|korean|latvian|lithuanian|norwegian|persian|polish (locale|messages?|texts?"
        r"|translations?)|portuguese|romanian|russian|serbian|slovak|slovenian|spanish|swedish|thai|turkish|ukrainian"
        r"|vietnamese)\b",
    ),
    (Role.LEGACY, r"\b(compat\w*|legacy|deprecated|backports?)\b"),
)
# These ask for configuration where nothing says that code is meant: `build settings`, not `where are settings read`.
_CONFIG_TOPICS = (
    r"\b((config(uration)?s?|settings?)(?! (class|handling|inherit\w*|load\w*|merging|object|pars\w*|valid\w*)\b)"
    r"|(yaml|json|toml) files?|workflows?|dependenc(y|ies)|requirements|packages|packaging|(package|project) (manifest"
    r"|metadata|scripts?)|manifest|distribution|build(?! times?\b)|linters?|lint"
    r"|(dotnet|elixir|java|jdk|kotlin|node(\.?js)?|php|python|ruby|rust|scala|swift|typescript) versions?"
    r"|versions? of (elixir|go|java|kotlin|node(\.?js)?|php|python|ruby|rust|scala|swift|typescript|\.net))\b"
)
# Who runs the tests asks for what the project says of that, not for tests.
_TESTS = r"(?:(?:tests?|specs?)(?! (?:client|double|harness|runner)s?\b)|(?:test |spec )?suites?)"
_RUNS_TESTS = (
    r"^(?:(?:how (?:do|can|should|would) (?:i|we|you|one)|how to|(?:commands?|steps|instructions) (?:to|for)) )?"
    rf"(?:run|running|execute|executing) (?:(?!(?:after|before|during|in|on|with)\b)[\w/-]+ ){{0,4}}{_TESTS}\b"
    rf"|^how (?:are|is) (?:[\w/-]+ ){{0,4}}{_TESTS} (?:run|executed)\b"
)
# A piece of code that does something.
_CODE_THAT = (
    r"\b(?:class|code|component|function|handler|helper|interface|logic|method|module|object|part|reporter|rule|struct"
    r"|type)s? (?:that|which)\b"
)
_MEANS_CODE = (
    # A question for what happens.
    r"^(?:how|where|when|why|who|does|do|is|are|can|what (?:happens|does|do|if))\b"
    # What is to be done: verbs without the `e` at their end.
    r"|^(?:add|apply|chang|check|collect|convert|creat|decod|detect|encod|expand|export|fetch|find|format|generat|get|handl"
    r"|import|inherit|list|load|locat|merg|normali[sz]|open|overrid|pars|print|process|read|reload|remov|render|replac"
    r"|resolv|restor|sav|send|seriali[sz]|set|start|stor|substitut|updat|validat|warn|watch|writ)(?:e?s?|t?ing)\b"
    r"|^build(?:s|ing)? (?!config|settings|scripts?|options|targets?|matrix|system|files?|steps?|pipelines?|of\b|and\b)"
    rf"|{_CODE_THAT}"
)
# Most questions have none, and are told apart by this: all are tried at once where a word begins. It looks at text in
# lower case, for a pattern that ignores case takes nearly twice as long.
_ANY_ROLE_WORD = re.compile(
    r"\b(?:"
    + "|".join([pattern.removeprefix(r"\b") for pattern in (_CONFIG_TOPICS, *(one for _, one in _ROLE_WORDS))])
    + r")|[._]pb"
)


def asked_roles(text: str) -> Role:
    """Return the roles of files that a question asks for."""
    lower = text.lower()
    flags = 0 if text.isascii() else re.IGNORECASE  # `re` knows more of case than `lower`
    if not flags and not _ANY_ROLE_WORD.search(lower):
        return Role(0)
    roles = Role(sum([int(role) for role, pattern in _ROLE_WORDS if re.search(pattern, lower, flags)]))
    if roles & Role.TEST and re.search(_RUNS_TESTS, lower, flags):
        return roles & ~Role.TEST | Role.DOCS
    if roles & Role.CONFIG and re.search(_CODE_THAT, lower):
        return roles & ~Role.CONFIG
    is_config = re.search(_CONFIG_TOPICS, lower, flags) and not re.search(_MEANS_CODE, lower)
    return roles | Role.CONFIG if is_config else roles
