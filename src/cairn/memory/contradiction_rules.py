# ruff: noqa: E501 - a topic is a row
"""What a project rules in one way only: one row for each such topic, with the words that rules about it are made of.

Patterns see lower-case text in which `<time>`, `<size>`, `<percent>` and `<n>` stand for amounts.
"""

from __future__ import annotations

from typing import NamedTuple


class Topic(NamedTuple):
    """Something of which a project has one value, or one for each subject.

    Attributes:
        name: tells it from others.
        unit: of its value: `time`, `size`, `percent`, `n`, `version`, or empty where it is one of `options`.
        pattern: where it matches, a sentence rules the topic.
        own: words that belong to the topic and name no subject.
        options: the values, each with a pattern. Of two, a rule against one is for the other; one alone is there or not.
        bound: `max` or `min` if a value is a limit, so that a sentence about the other limit is about something else.
    """

    name: str
    unit: str
    pattern: str
    own: str = ""
    options: tuple[tuple[str, str], ...] = ()
    bound: str = ""


_AT_MOST = r"(?:at most|no (?:longer|more|larger|bigger|greater) than|not (?:be |take |have |exceed |run )?(?:longer than|more than|larger than|bigger than)?|not exceed|up to|under|below|within|max(?:imum)?(?: of)?|limited to|less than|shorter than|smaller than)"
_USE = r"\b(?:us(?:e|es|ing)|prefer|stick (?:to|with)|go with|standardi[sz]e on)\b"
_PER_EACH = "each every all any per single"


def _tools(name: str, tools: str, own: str, verbs: str = "with|using|through|by|on") -> Topic:
    """Return the topic of which of some tools does a job."""
    names = tools.split()
    either = "|".join(names)
    pattern = rf"(?:{_USE}|\b(?:{verbs})) (?:only )?(?:{either})\b(?!['/.-]\w)"
    return Topic(name, "", pattern, own, tuple((tool, rf"{tool}\b(?!['/.-]\w)") for tool in names))


TOPICS = (
    Topic("timeout", "time", rf"\btime-?outs?\b.{{0,40}}<time>|<time>.{{0,20}}\btime-?outs?\b|\b(?:may|must|can|should|to)(?: not)? (?:take|run|last|wait)\b.{{0,20}}(?:{_AT_MOST} <time>|<time> at (?:the )?most)|\b(?:finish|answer|complete|respond|return|reply)s?\b.{{0,20}}\bwithin <time>|\btimes? out after <time>|\b(?:give|gives|given) up after <time>",
          "timeout timeouts time times out take run last wait finish answer complete respond return reply within give given up request requests call calls http", bound="max"),
    Topic("line length", "n", rf"\bline[- ](?:length|width|limit)s?\b.{{0,30}}<n>|\blines? .{{0,30}}(?:{_AT_MOST}) <n>|\blines? .{{0,30}}<n> (?:characters|columns|chars)\b|\bwrap (?:[\w-]+ ){{0,3}}(?:at|after) <n>",
          "line lines length width limit limits limited characters character columns column chars char wrap wrapped code long longer wide keep source", bound="max"),
    Topic("indentation", "", rf"\bindent\w*\b.{{0,40}}\b(?:tabs?|spaces)\b|(?:{_USE}|\bwith) (?:only )?(?:tabs|(?:<n> )?spaces)\b|^(?:only )?(?:tabs|spaces)(?: only)?\b.{{0,12}}\bno (?:tabs|spaces)$",
          "indent indents indented indentation indenting tab tabs space spaces only code width level levels style whitespace", (("tabs", r"tabs?\b"), ("spaces", r"(?:<n> )?spaces\b"))),
    Topic("quotes", "", rf"(?:{_USE}|\b(?:in|with)) (?:single|double) quotes\b",
          "quote quotes string strings quoted literal literals", (("single", "single quotes"), ("double", "double quotes"))),
    Topic("semicolons", "", rf"(?:{_USE}|\b(?:no|omit|without|with|end|always|terminate)) (?:[\w-]+ ){{0,3}}semicolons?\b|\bsemicolons? (?:are|is) (?:required|mandatory|omitted|forbidden)",
          "semicolon semicolons end ends statement statements line lines terminate required mandatory omit omitted forbidden", (("semicolons", r"semicolons?(?! (?:are|is) (?:omitted|forbidden))"),)),
    Topic("exports", "", rf"(?:{_USE}|\bno) (?:default|named) exports?\b",
          "default named export exports", (("default", "default exports?"), ("named", "named exports?"))),
    Topic("case of names", "", r"\b(?:camelcase|camel case|snake_case|snake case|kebab-case|kebab case|pascalcase|pascal case)\b",
          "name names named naming case camelcase snake_case kebab-case pascalcase camel snake kebab pascal", (("camel", "camel ?case"), ("snake", "snake[_ ]case"), ("kebab", "kebab[- ]case"), ("pascal", "pascal ?case"))),
    Topic("time zone", "", r"\b(?:store|stored|save|saved|keep|kept|write|written|log|logged|are|is)\b.{0,30}\bin (?:utc|(?:the )?local time)\b",
          "time times timestamp timestamps date dates datetime datetimes utc local zone store stored save saved keep kept write written", (("utc", r"utc\b"), ("local", r"local time\b"))),
    _tools("packages of JavaScript", "npm yarn pnpm bun", "install installs installed package packages dependency dependencies manager script scripts run add"),
    _tools("packages of Python", "pip uv poetry pipenv pdm conda", "install installs installed package packages dependency dependencies manager add"),
    _tools("tests of JavaScript", "jest vitest mocha jasmine ava", "test tests testing write written run framework runner"),
    _tools("tests of Python", "unittest pytest nose", "test tests testing write written run framework runner"),
    _tools("formatter of Python", "black ruff yapf autopep8", "format formats formatted formatting formatter code"),
    _tools("bundler", "webpack vite rollup esbuild parcel", "build builds built bundle bundles bundled bundling bundler"),
    Topic("base of branches", "", r"\b(?:branch(?:es)? (?:off|from|start at)|branches (?:start at|are branched off)|(?:pull requests|prs)\b.{0,20}\b(?:to|against|into|for)) (?:main|master|develop|dev|trunk|next)\b",
          "branch branches branched off from start pull request requests pr prs go open opened against merge merged target", (("main", "main"), ("master", "master"), ("develop", r"dev(?:elop)?\b"), ("trunk", "trunk"), ("next", "next"))),
    Topic("coverage", "percent", r"\bcoverage\b.{0,60}<percent>|<percent>.{0,30}\bcoverage\b",
          "coverage test tests code stay stays keep least above below minimum min drop fall over more", bound="min"),
    Topic("retries", "n", r"\bretr(?:y|ies|ied)\b.{0,40}<n>(?: times?\b|$)|<n>(?: times)? retries",
          "retry retries retried time times request requests call calls failed failing", bound="max"),
    Topic("approvals", "n", r"<n> (?:approvals?|reviews?|reviewers?)\b",
          f"approval approvals review reviews reviewer reviewers pull request requests pr prs merge merged enough required {_PER_EACH} change changes", bound="min"),
    Topic("length in lines", "n", rf"(?:{_AT_MOST}|(?:longer|more) than) <n> lines\b|<n> lines at (?:the )?most",
          f"line lines long longer short shorter keep {_PER_EACH}", bound="max"),
    Topic("cache", "time", r"\bcache\w*\b.{0,40}<time>|\bttl\b.{0,20}<time>",
          "cache caches cached entry entries ttl expire expires after live lives kept keep valid lifetime", bound="max"),
    Topic("lifetime", "time", r"\b(?:expires?|lives?|valid|lifetime|ttl)\b.{0,20}<time>",
          f"expire expires after live lives valid lifetime ttl {_PER_EACH}", bound="max"),
    Topic("size", "size", rf"(?:{_AT_MOST}) <size>|<size> (?:large )?at (?:the )?most",
          f"limit limited large larger big bigger size sizes {_PER_EACH}", bound="max"),
    Topic("port", "n", r"\bports?\b.{0,20}<n>|\b(?:listens?|runs?|served?) (?:on|at) (?:port )?<n>$",
          "port ports listen listens run runs serve served localhost server app application service"),
    *(
        Topic(f"version of {name}", "version", rf"\b(?:{pattern})\b.{{0,40}}<n>",
              f"version versions {pattern.replace('|', ' ')} support supports require requires required need needs minimum min least newer later higher above oldest lowest target", bound="min")
        for name, pattern in (("Python", "python"), ("Node", r"node(?:\.?js)?"), ("Go", "go|golang"), ("Java", "java|jdk"), ("Ruby", "ruby"), ("PHP", "php"), ("Rust", "rust|msrv"), ("TypeScript", "typescript"))
    ),
)  # fmt: skip
