# ruff: noqa: E501 - a rule is a row
"""How people and agents word what they decided, learned, weighed and warn of: one row for each way.

Patterns are RE2's and see lower-case text in which inline code stands as `CODE`. They were measured on labelled sentences.
"""

from __future__ import annotations

from typing import NamedTuple


class StatementRule(NamedTuple):
    """One way of saying something worth keeping.

    Attributes:
        type: of the memory that it makes.
        confidence: that a sentence that matches is one, from 0 to 1.
        pattern: searched for in a sentence.
        by: who says so: `agent`, `user`, or empty for either.
        unless: searched for as well; a sentence that matches is none.
    """

    type: str
    confidence: float
    pattern: str
    by: str = ""
    unless: str = ""


_WE = r"\b(?:i|we|the team)(?:'ve| have|'d| had)?(?: (?:now|also|finally|therefore|thus|just|then|both))?"
_START = r"^(?:so |and |but |hey,? |hi,? |great,? |thanks,? |cool,? |oh,? |btw,? |fwiw,? |actually,? |no no,? |also,? |one more thing: |finally,? |in the end,? |ultimately,? |after [^,]{3,60}, |please |heads.?up[:,]? |fyi[:,]? |careful[:,]? |ok[,:]? )?(?:please |so |and )?"
_WHY = r"\b(?:because|since|so that|so [a-z]+|as |to (?:avoid|keep|make|prevent|allow|save)|due to|in order|which|otherwise)\b|[:;]"
_BEFORE = r"\b(?:before|first|after|or|otherwise|unless|until|whenever|when|again)\b"
_SETTLED = r"(?:decided|agreed|opted|settled|standardi[sz]ed|chose|chosen|picked|selected|rejected|ruled out|went with|gone with)"
_PEOPLE = r"(?:i|we|you|they|the team|anybody|anyone|somebody|someone)"
_CLAIMED = r"(?:think|thinks|thought|believe|believes|believed|remember|remembers|remembered|recall|know|knows|say|says|said|claim|claims|claimed|mean|means|meant|sure|certain|convinced|aware)"
_LATER = r"for (?:next time|the future|future reference)"
_KEEP = rf"(?:remember|don't forget|do not forget|keep in mind|bear in mind|note to self|note {_LATER})(?: (?:this|please|{_LATER}))?"
_MISBEHAVES = r"(?:fails?|breaks?|crash(?:es)?|hangs?|times? out|deadlocks?|stalls?|loops? forever|goes wrong)"

# Of the task at hand, and no convention: `use the other one, not this`, `don't touch it yet`.
_TASK = r"\b(?:yet|now|today|tomorrow|anything|worry|until|this time|again|anymore|any more|for the moment|the (?:first|second|third|other|last|next|same|one)|this one|that one|these|those|it|them|mine|two|three|four|i mean|i meant|(?:can|could) (?:we|you)|in this (?:commit|pr|pull request|change|branch|session|function|method|class|file|line|section|test|component)|so much|so many|too)\b"
_ASKED = r"\bbe (?:checked|fixed|changed|updated|tested|renamed|moved|removed|reviewed)\b|^(?:no,? |ok,? |please |then |and |now )*(?:why|how|explain|run|go|look|search|open|start|make|build|set ?up|install|clone|work|move|put it|delete|remove|implement|test (?:the|this|that|it|whether|if|with)|try|check|see|read|count|list|compare|clean|tidy|i want|i need|i would|there (?:is|are)|is|are|does|do we|have we|can|could)\b"
_SO = r"^(?:no|nope|wrong|that'?s (?:wrong|not right|not true|incorrect|not how)|not quite|actually|you forgot|i (?:already )?(?:told|said)(?: you)?(?: already| before)?)\b[^:,;!.]{0,20}[,:;!.-]+ "
_OUR = (
    r"(?:in|for|of) (?:this|our) (?:repo|repository|project|code ?base|monorepo|team|company|package|service|library)"
)
_PARTS = r"(?:names?|messages?|titles?|branches|tags|files|tests|specs|routes|endpoints|handlers|classes|modules|migrations|fixtures|components|helpers|keys|ids|errors|exceptions|logs|types|interfaces|templates|styles|constants|secrets|docs|scripts|deploys|deployments|releases|dates|times|prices|amounts)"

RULES = tuple(
    StatementRule(*row)
    for row in (
        # -- decisions ----------------------------------------------------------------------------------------------------
        ("decision", 0.95, r"^(?:final |design |key |architectural )?(?:decision|decided|agreed|conclusion|convention|rule|policy)(?: \([^)]*\))?: \S"),
        ("decision", 0.85, rf"{_WE} (?:decided|agreed|opted|settled|standardi[sz]ed)(?: (?:to|on|for|that|against|not|in favou?r|upon|with)\b)"),
        ("decision", 0.85, rf"{_WE} (?:chose|chosen|picked|preferred|selected|rejected|ruled out|discarded|dismissed)\b.*(?:\bover\b|\binstead of\b|\brather than\b|{_WHY}|\bto\b)"),
        ("decision", 0.85, rf"{_WE} (?:went|gone|going|stuck|stayed|stay|are going|are sticking|are staying|'re going|'re sticking) with\b.*(?:\bover\b|\binstead\b|\brather\b|\bfor\b|\bin\b|{_WHY})"),
        ("decision", 0.8, rf"{_START}(?:chose|picked|opted for|opted to|went with|going with|sticking with|settled on|decided (?:to|on|against)|rejected|ruled out|standardi[sz]ed on)\b.*(?:\bover\b|\binstead of\b|\brather than\b|{_WHY})"),
        ("decision", 0.75, rf"{_WE} (?:kept|keep|left|put|made|used|placed|stored|implemented|moved|wrote|built)\b.*\b(?:instead of|rather than|over|on purpose|deliberately|intentionally)\b.*(?:{_WHY})"),
        ("decision", 0.75, rf"{_WE} (?:kept|left|put|made|removed|dropped)\b.*\b(?:on purpose|deliberately|intentionally|by design)\b"),
        ("decision", 0.8, r"\b(?:is|are|was|were|does|do|stays?|runs?|accepts?|ignores?|returns?|uses?|keeps?|not|now|code|it|this|that|we|they) (?:deliberately|intentionally|purposely|on purpose)\b"),
        ("decision", 0.75, r"\bcode (?:deliberately|intentionally) \w+|\b(?:parser|class|module|function|api|endpoint|service|client|server|test|job|worker|table|column|field|config|build) (?:deliberately|intentionally) \w+"),
        ("decision", 0.75, rf"\b(?:by design|on purpose)(?:,|:| (?:{_WHY}))"),
        ("decision", 0.75, rf"{_WE} (?:will|'ll|are going to|'re going to) (?:keep|use|support|store|stick|stay|leave|version|only|not|always|never)\b.*(?:{_WHY})"),
        ("decision", 0.75, r"\bwe(?:'ve| have)? (?:drop(?:ped)?|deprecat(?:e|ed)|no longer (?:use|support))\b"),
        ("decision", 0.85, rf"{_START}(?:from now on|going forward|as a rule|by convention|in this (?:repo|repository|project|code ?base)|for this (?:repo|project)|in our (?:repo|project|code))[,:]? (?:\w+ ){{0,3}}(?:use|uses|using|never|always|don't|do not|only|keep|put|write|we|no|avoid|prefer|run|all|every|stick)\b", "user"),
        ("decision", 0.8, rf"{_START}(?:always|never|only ever) (?:use|run|call|commit|push|edit|import|write|add|put|create|mock|deploy|name|prefix|log|store|return|throw|raise|test|merge|squash|rebase|format|install|touch|change|modify|delete|start|hard.?code|catch|rely|bump|pin|sign|keep|do|go|ask|wrap|include|update|rescue|panic|sleep|fork|eval|retry|disable|skip|ignore|bypass|copy|reuse)\b", "user"),
        ("decision", 0.75, r"[:;] (?:always|never) (?:use|run|call|commit|edit|import|write|add|put|mock|deploy|log|store|return|raise|test|touch|change|delete|start|keep)\b", "user"),
        ("decision", 0.75, r"^(?:please )?stop (?:using|importing|calling|mocking|adding|writing|putting)\b.*\b(?:use|prefer|instead|anywhere|in (?:this|the|our) (?:repo|repository|project|code|code ?base|tests?))\b", "user"),
        ("decision", 0.8, r"\b(?:must|should|has to|have to|need to) (?:always|never)\b", "user"),
        ("decision", 0.8, r"\bwe (?:only|always|never|don't|do not|use|prefer|store|deploy|support|keep|convert|require|follow|want|write|call|name)\b", "user"),
        ("decision", 0.8, rf"{_START}prefer \S+.* (?:over|to|instead of|rather than) \S+", "user"),
        ("decision", 0.75, rf"{_START}(?:do not|don't|dont) (?:ever )?(?:use|import|mock|call|add|commit|edit|write|introduce|put|rely|catch|touch)\b.*\b(?:in (?:this|the|our) (?:code ?base|repo|repository|project|package|tests?|module|code)|anywhere|ever|here|directly|by hand|without)\b", "user"),
        ("decision", 0.75, rf"{_START}(?:let'?s|we'll|we will) (?:use|go with|keep|stick (?:with|to)|adopt|standardi[sz]e|store|put|name|call|avoid|drop)\b.*\b(?:for|instead|because|since|so|everywhere|from now on|all|always|rather|in)\b", "user", r"\bfor now\b|\b(?:let's|we'll|we will) (?:use|keep|put|call|drop|store) (?:it|this|that)\b"),
        ("decision", 0.75, rf"{_START}(?:use|keep|stick with|stick to|store|put|name) \S+.*\b(?:for all|everywhere|for every|for everything|always|here, |that's our|our convention|in all|even if|instead of)\b", "user", r"\buse an? [^,]*\bhere\b"),
        ("decision", 0.75, rf"{_START}no (?:new )?\w+(?: \w+)? (?:without|in|unless)\b", "user"),
        ("decision", 0.75, rf"{_START}all [\w ]{{3,40}} (?:are|must be|have to be|should be|go|live|belong)\b", "user"),
        ("decision", 0.75, r"\b(?:our|the) (?:convention|policy|standard|house rule|rule here)\b", "user"),
        ("decision", 0.75, rf"{_START}(?:no,? )?use [\w.+@/-]+(?: [\w.+@/-]+){{0,5}},? (?:(?:and )?(?:not|never)|rather than|instead of) \S+", "user", rf"{_TASK}|\buse (?:\d+|a|an|the|this|that|my|your|another|other|different)\b"),
        ("decision", 0.75, rf"{_START}(?:no,? )?(?:use|put|keep|place|store) [^,;]{{3,60}}, (?:not|never) (?:the|in|into|under|a|an) \S+", "user", rf"{_TASK}|\b(?:it|him|her) in|\b(?:use|put|keep|place|store) (?:a|an|the|your|another)\b"),
        ("decision", 0.75, rf"\b(?:is|are|must|should|never|always|not|don't|only|uses?|returns?|keep|stay|needs?|follow|put|name|write)\b.*\b{_OUR}\b", "user", rf"{_TASK}|{_ASKED}"),
        ("decision", 0.75, rf"{_START}(?:no,? )?(?:don't|do not|dont) (?:ever )?(?:mock|use|import|hard.?code|force.?push|edit|swallow|introduce|catch|rely|squash|rebase|reformat|add (?:comments|docstrings|packages|dependencies|new dependencies))(?: [\w./`'-]+){{2,}}", "user", rf"{_TASK}|\b(?:use|mock|import|edit|catch|introduce|reformat) (?:that|this|a|an)\b"),
        ("decision", 0.75, rf"{_START}(?:no,? )?(?:never|avoid|stop) (?:mock|us|import|hard.?cod|force.?push|push|edit|swallow|introduc|catch|rely|log|print|return|throw|rais|add|writ|squash|rebas|reformat|leav|commit|depend|expos)(?:e|t?ing)?(?: [\w./`'-]+){{2,}}", "user", rf"{_TASK}|\benough\b"),
        ("decision", 0.8, r"^(?:all |new |our |the )*[\w /-]{2,40}s (?:must|have to|has to|need to|should always|should never)\b", "user", rf"{_TASK}|{_ASKED}|^(?:so )?(?:i|we|you|he|she|they|there|it|this|that|what|something|someone)\b"),
        ("decision", 0.8, r"\b(?:every|each|all) [\w -]{2,40} (?:needs?|must|has to|have to|gets?|should have)\b", "user", rf"{_TASK}|{_ASKED}|\b(?:tests|checks|builds?) (?:need|must|have) (?:to )?(?:pass|be green|succeed)"),
        ("decision", 0.75, rf"\b{_PARTS} (?:always |only |all )?(?:(?:start|begin|end|go|live|belong|come)s?|(?:is|are) (?:always |only )?(?:named|called|prefixed|stored|written|returned|kept|generated|signed|done|sent|passed|sorted|formatted)) (?:with|next|in|into|under|through|by|as|beside|to|on|from)\b", "user", rf"{_TASK}|{_ASKED}|\b(?:wrong|errors?:|an error|instead|twice|fix|but|why|broken|missing|empty|incorrect|because)\b"),
        ("decision", 0.75, r"^(?:no,? )?all [\w -]{2,40} (?:goes|go|comes?|lives?|runs?|belongs?) (?:through|via|into|in|under|by|to)\b|\b(?:must|should|may) (?:not|never) (?:call|use|import|edit|mock|depend|access|log|store|rely)\b|\bstop using [^,]{2,40}, (?:we|it)\b", "user", rf"{_TASK}|{_ASKED}|\bthe user\b"),
        ("decision", 0.75, rf"{_START}(?:always|never) (?:pass|send|set|check|validate|escape|close|await|quote|sort|round|link|tag|squash|mention|review) \S+ \S+", "user", _TASK),
        ("gotcha", 0.75, r"^(?:no|nope|wrong|actually)[,.:!]? (?:our|the (?:minimum|maximum|default|limit|timeout|rule|convention|format|version|port|unit|owner|deadline))\b.*\b(?:is|are)\b", "user", r"\b(?:problem|bug|issue|cause|error|wrong|is it|are there)\b"),
        ("decision", 0.75, r"\bwe(?: only)? (?:target|run on|run with|ship|pin|vendor|release|deploy to|test against|build with|format with|lint with|name|version)\b", "user", _TASK),
        ("decision", 0.85, rf"{_SO}.*\b(?:must|needs?|has to|have to|always|never|only|every|each|is not|isn't|don't|do not)\b", "user", r"\b(?:it works|never mind|that's fine|i was wrong|problem|bug|issue|cause|somewhere|elsewhere|the change|is it|are there|could|tests?$)\b"),
        ("decision", 0.85, r"\b(?:is|are|gets?) (?:auto-?)?generated\b.*\b(?:don't|do not|never) (?:edit|touch|change|modify)\b|\b(?:don't|do not|never) (?:edit|touch|change|modify)\b.*\bgenerated\b", "user"),
        ("decision", 0.8, r"\b(?:was|were|got) (?:rejected|removed|dropped|reverted|abandoned|declined)\b.*\b(?:don't|do not|never) (?:bring|add|re-?add|re-?introduce|(?:re-?)?implement|use|restore|revive)\b", "user"),
        ("decision", 0.75, r"\b(?:before|after) (?:every|each|any) (?:commit|push|merge|release|deploy\w*|pr|pull request|migration)\b", "user", _ASKED.replace("run|", "").replace("make|", "")),
        ("decision", 0.75, rf"{_START}(?:please )?avoid [\w-]+(?: [\w-]+)?, (?:we|it|they|that)\b", "user"),
        ("decision", 0.8, r"^(?:[\w,]+ ){0,3}(?:from now on|from here on|going forward)\b|\b(?:from now on|going forward)\W*$", "user", r"\b(?:it|this|that|them|these|those|i|i'm)\b|\b(?:the|a|an|my|every) [\w ]{1,30} (?:shows?|was|fails?|breaks?|doesn't|returns?|crash\w*|hangs?)\b"),
        ("decision", 0.75, rf"{_START}i (?:always |really |generally |usually |strongly |much )?prefer \S+ \S+", "user", rf"{_TASK}|\bi prefer (?:that|this|it|the)\b"),
        ("decision", 0.75, rf"{_START}i'd rather (?:you|we) (?:didn't|did not|don't|never|always)\b|{_START}i (?:want|expect) you to (?:always|never) \w+ \w+", "user", _TASK),
        ("decision", 0.75, rf"{_START}i(?:'ve)? (?:already )?(?:told|asked) you (?:already )?(?:(?:not|never) to|to (?:not|never|always)|to (?:use|keep)) \w+", "user", _TASK),
        ("decision", 0.75, rf"{_START}make sure (?:to|you|that you|that we|we) (?:always |never )?\w+.*\b(?:everywhere|always|never|every|each|all)\b", "user", rf"{_TASK}|\b(?:tests?|builds?|checks?) (?:still )?(?:pass|work|run)|\bsure (?:to|you|that you|that we|we) (?:check|verify|test|fix|update|read|look|run|cover|see|find|get|are|have|did|do)\b"),
        ("decision", 0.75, rf"{_START}keep (?:the |all |your |our )?(?:\w+ ){{0,3}}\w+s (?:short|small|simple|flat|sorted|pure|private|minimal|focused|consistent|alphabetical|under|below|in|out of)\b", "user", rf"{_TASK}|\bkeep (?:us|this|the tests green)\b"),
        ("decision", 0.75, rf"{_START}[\w ./@+-]{{2,40}} (?:is|are) (?:now )?(?:fine|ok|okay|allowed|welcome|deprecated|forbidden|banned|not allowed|no longer allowed|off limits)\b.*\b(?:in this (?:repo|project|code ?base)|from now on|in our \w+|here now|now|anymore|any more)\W*$", "user", r"\b(?:it|this|that|they|these|those|i|you|tests?|builds?|everything|all|ci|looks?)\b (?:is|are)|^(?:that|it|this)\b"),
        ("decision", 0.75, r"\bwe(?:'re| are)(?: now)? on (?:[a-z.+#-]+ v?|v)\d", "user", rf"{_ASKED}|\bon (?:page|line|step|attempt|try|day|week|pr|issue|branch|commit|about|around|only|over|under) "),
        ("decision", 0.75, rf"{_START}i (?:don't|do not|dont) want (?:any|new|more|to see any) \w+.*", "user", rf"{_TASK}|\bany (?:more|trouble|changes?|edits?|surprises|problems?|of)\b"),
        ("decision", 0.75, rf"^(?:also,? |and )?(?:all |the |our )?(?:\w+ )?(?:{_PARTS}|commits|prs|pull requests) (?:always |all )?need an? \w+", "user", rf"{_TASK}|{_ASKED}|\bneed an? (?:\w+ )?(?:update|fix|look|review|change|refactor\w*|clean-?up|rewrite|rename|bit|lot|minute|moment|while|extra|new|additional|another)\b"),
        # -- trade-offs ---------------------------------------------------------------------------------------------------
        ("trade_off", 0.9, r"\btrade-?offs?(?: (?:here|to be aware of|to know|worth knowing|is|was|of this|i made|we made|to note))*\s?(?::|\bis\b|\bwas\b)"),
        ("trade_off", 0.85, r"\bat the (?:cost|expense|price) of\b"),
        ("trade_off", 0.8, r"\b(?:accept|accepts|accepted|pay|get|trade|traded)\b.*\bin exchange for\b|\btraded \w+ for \w+"),
        ("trade_off", 0.8, rf"{_START}(?:the|one|its|main|another|a) (?:only |main |one |obvious |known )?(?:downside|drawback|disadvantage|catch|price)(?: (?:of|to|with|here)\b[^.]*?)? (?:is|was|are)\b"),
        ("trade_off", 0.8, r"\bwith the (?:disadvantage|drawback|downside|benefit|advantage) (?:of|that)\b"),
        ("trade_off", 0.8, r"\bthe cost of (?:this|that|the|these|doing)\b[^.]*\bis\b"),
        ("trade_off", 0.8, r"\bsacrific(?:es?|ing|ed)\b.*\bfor\b"),
        ("trade_off", 0.8, r"^pros?: .*\bcons?:"),
        ("trade_off", 0.75, r"\b(?:\w{3,}er|more \w+|less \w+|fewer \w+|quick|simple|easy|cheap)\b[^.;]{0,60}[ ,](?:but|though|yet|while)\b(?:[^.;]{0,50}\b(?:\w{3,}er|more|less|costs?|needs?|uses?|takes?|no longer|can't|cannot|loses?|blocks?|slow|than)\b)", "agent"),
        ("trade_off", 0.75, r"\b(?:saves?|avoids?|buys?|catches|gains?|gives? us|costs?)\b[^.;]*\b(?:but|and|though|while)\b[^.;]*\b(?:costs?|loses?|rejects?|needs?|gives? up|pay|saves?|breaks?)\b", "agent"),
        ("trade_off", 0.75, r"\b(?:gives?|gave|giving) up\b[^.;]*\b(?:to get|for|in return)\b"),
        ("trade_off", 0.75, r"\bmeans? (?:fewer|less|more|lower|higher|faster|slower)\b[^.;]*\bbut\b"),
        ("trade_off", 0.75, r"\bi'?d rather have\b.*\bthan\b|\bi know it(?:'s| is) (?:slow|ugl|verbos|more)\w*,? but\b", "user"),
        # -- gotchas ------------------------------------------------------------------------------------------------------
        ("gotcha", 0.95, r"^(?:\w+ )?(?:gotchas?|pitfalls?|caveats?|footgun|trap)(?: (?:here|to know|to remember|for [^:]{3,30}))?: \S"),
        ("gotcha", 0.8, r"^(?:one thing to (?:remember|know|watch)|things? to (?:remember|know|watch)|worth (?:remembering|noting|knowing)|important|warning|attention|careful|heads.?up|beware|watch out|caution|nb|note to self)[:,] (?:\S+ )*"),
        ("gotcha", 0.8, r"\b(?:watch out|look out) for\b|\bbeware (?:that|of)\b|^beware\b"),
        ("gotcha", 0.8, r"\bbe (?:careful|cautious|wary) (?:with|when|of|about|that)\b"),
        ("gotcha", 0.8, r"\bkeep in mind that\b|\bbear in mind that\b|\bbe aware that\b"),
        ("gotcha", 0.75, r"\bnote that\b.*\b(?:must|never|only|does not|doesn't|do not|don't|cannot|can't|silently|always|need|needs|ignores?|unless|except|even|will not|won't|has to|have to)\b", "agent"),
        ("gotcha", 0.75, r"^note: .*\b(?:must|never|only|is not|isn't|are not|aren't|does not|doesn't|cannot|can't|silently|always|needs?|ignores?|unless|has to|have to)\b", "agent", r"^note: (?:i|we|the tests?|tests?|my|all|there)\b|\byet\b|\b(?:unrelated|this (?:change|pr|task)|untouched|affected)\b"),
        ("gotcha", 0.85, r"\bsilently (?:\w+ )?(?:\w+)\b"),
        ("gotcha", 0.8, r"\b(?:subtle|nasty|common|easy|hidden|classic|known) (?:trap|mistake|pitfall|bug|gotcha|footgun|surprise|to miss|to get wrong|to overlook|error)\b"),
        ("gotcha", 0.75, rf"\b(?:must|has to|have to|needs? to) be (?:called|run|set|installed|initiali[sz]ed|imported|started|restarted|rebuilt|closed|registered|loaded|regenerated|enabled|created|awaited|held|applied|in place)\b.*{_BEFORE}"),
        ("gotcha", 0.75, rf"\byou (?:need|have|must)(?: to)? (?:set|run|call|start|install|restart|rebuild|export|enable|pass|source|clear|delete|regenerate|be)\b.*{_BEFORE}", "agent"),
        ("gotcha", 0.75, rf"\b(?:make sure|ensure)\b.*{_BEFORE}.*\b(?:or|otherwise|else)\b"),
        ("gotcha", 0.75, r"\b(?:requires?|needs?) \S+.*\b(?:otherwise|or else|first|beforehand|before)\b|\b(?:requires?|needs?)\b.*, (?:or|with \S+) .*\b(?:not|fails?|breaks?|stale|skipped|wrong|missing)\b"),
        ("gotcha", 0.75, rf"\b{_MISBEHAVES} (?:if|when|whenever|unless|without|on|once|under|as soon as)\b", "agent"),
        ("gotcha", 0.75, r"\b(?:only works?|works? only|only takes? effect|takes? effect only)\b.*\b(?:if|when|with|on|after|in|once|from|inside)\b", "agent"),
        ("gotcha", 0.75, r"\b(?:do not|don't|never) (?:upgrade|run|call|use|rely|delete|remove|edit|change|import|share|restart|mix|set)\b.*(?::|, (?:it|they|this|that|or|because|since|as|else|otherwise)\b|\b(?:because|since|otherwise|or else|as it|as they)\b)"),
        ("gotcha", 0.75, r"\b(?:does not|doesn't|do not|don't|is not|isn't|are not|aren't|will not|won't|never) (?:\w+ )?(?:pick(?:ed)? up|rebuil[dt]|reload(?:ed)?|updat(?:e|ed)|touch(?:ed)?|flush(?:ed)?|run|reset|clean(?:ed)?|refresh(?:ed)?|propagate[d]?|inherit(?:ed)?|thread.?safe|survive|cover(?:ed)?|escape[d]?|include[d]?|support(?:ed)?|work)\b.*(?:, so\b|, only\b|, which\b|\bbecause\b|\bunless\b|\bsince\b|, run\b|\bby itself\b|: )", "agent"),
        ("gotcha", 0.75, r"\b(?:must|has to|have to|needs? to)\b.*, (?:otherwise|or else)\b", "agent", r"^(?:so |and |but )?(?:i|we|let)\b|\b(?:decide|confirm|approve|tell me|answer|choose)\b"),
        ("gotcha", 0.75, r"^CODE (?:must|may|should) (?:not|never|only) be \w+", "agent"),
        ("gotcha", 0.8, rf"{_SO}(?:.*[,:] )?(?:the|our|CODE) .*\b(?:is|are|lives?|goes|takes?|uses?|returns?|runs?)\b [\w ./'-]{{1,40}},? not \S+", "user", r"\b(?:never mind|i was wrong|problem|bug|issue|cause|errors?|tests?|builds?|red|green|broken|missing|empty|still|yet|now)\b"),
        ("gotcha", 0.75, r"\b(?:port|timeout|limit|version|default|minimum|maximum|interval|size|threshold|deadline) (?:for \w+ )?is [\w.]+(?: \w+)? not \d", "user", r"\b(?:problem|bug|issue|why|should|but)\b"),
        ("gotcha", 0.75, r"\bmust (?:not|never) be (?:edited|changed|modified|touched|committed|called|imported|shared|cached|logged|renamed|removed|merged|upgraded)\b", "agent"),
        ("gotcha", 0.8, r"\b(?:is|are) (?:called|named) CODE,? not CODE", "user"),
        ("gotcha", 0.8, r"\b(?:i|we)(?:'ve)? (?:already |have |had )?tried\b.*\b(?:don't|do not|never) (?:bring|suggest|propose|offer|try|use|go back|come back)\b", "user"),
        ("gotcha", 0.8, r"^(?:(?:no|nope|actually|correction|fyi|btw)[,:]? )+(?:the|our|we|CODE) .*\bnow\b,? (?:and )?not (?:in|on|from|with|at|by|via|to) \S+", "user", rf"{_ASKED}|\b(?:button|test|tests|page|error)\b"),
        ("gotcha", 0.75, r"^unlike (?:the )?(?:other|most|all)\b"),
        ("gotcha", 0.75, r"\b(?:even (?:when|if|though)|although)\b.*, so (?:check|use|make|always|never|do|don't|you|be|call)\b"),
        ("gotcha", 0.75, r", so (?:copy|check|run|make sure|always|never|don't|do not|be|call|use|back|close|restart|clear)\b", "agent"),
        ("gotcha", 0.75, r"\bwithout any (?:error|message|warning|notice|hint|trace)\b|\bwith no (?:error|message|warning)\b"),
        ("gotcha", 0.75, r"^on (?:windows|macos|mac|linux|ios|android|safari|firefox|arm|ci|alpine|wsl|node \d+|python 3\.\d+)\b.*\b(?:twice|not|fails?|breaks?|different|instead|reports?|hangs?|crash\w*|slower|case)\b", "agent"),
        ("gotcha", 0.8, rf"{_START}(?:do not|don't|dont) (?:run|call|use|start|delete|restart|kill|upgrade|touch|share)\b.*(?:, (?:they|it|this|that|there|we|because|or)\b|\bbecause\b|\botherwise\b)", "user"),
        ("gotcha", 0.75, r"^(?:remember|remember that|heads.?up[:,]?|careful[,:]?|note[:,]?|btw[,:]?|by the way[,:]?) .*\b(?:needs?|requires?|must|wipes?|deletes?|drops?|overwrites?|breaks?|fails?|only|does not|doesn't)\b", "user"),
        ("gotcha", 0.75, rf"^(?:and |also,? |so |ok[,:]? |oh,? |btw,? )*(?:please,? )?{_KEEP}(?:\s?:\s?\S| that (?:the|this|our|we|all|every|each|no|there|in|on|for|when|if|only|it|CODE|you (?:must|need))\b)|^(?:and |also,? |so |ok[,:]? )*(?:please,? )?{_LATER}[,:]? \S", "user"),
        ("gotcha", 0.75, r"^(?:bitte )?(?:merke? dir|denke? daran|vergiss nicht|nicht vergessen|beachte)(?: bitte)?\s?(?::|, dass\b)|^(?:souviens-toi|rappelle-toi|retiens|n'oublie pas)(?: bien)?\s?(?::| que\b)|^(?:recuerda|no olvides|lembre-se|lembra)(?: de)?\s?(?::| que\b)|^(?:ricordati?|non dimenticare)\s?(?::| che\b)", "user"),
        ("gotcha", 0.75, rf"{_START}(?:no,? )?(?:do not|don't|dont|never) (?:close|open|cache|log|change|remove|move|rename|edit|delete|drop|block|merge|skip|set|write|read|lock|retry|reset|inline|bump)\b.*, (?:the|our|its?) [\w ]{{1,40}}\b(?:needs?|depends?|expects?|relies|reads?|uses?|breaks?|fails?)\b", "user"),
        ("gotcha", 0.7, r", (?:which|that) (?:breaks|deadlocks|hides|loses|drops|skips|corrupts|blocks)\b|, it (?:deadlocks|hangs|breaks|loses|corrupts|follows|overwrites|wipes|deletes)\b", "agent"),
        ("gotcha", 0.75, r"\b(?:is|are|runs?|works?|happens?|comes?|deployed|built|released|tested|used|called) only (?:\w+ )?(?:from|in|on|over|via|through|for|by|when|after|with|at)\b|\b(?:is|are) only (?:reachable|available|allowed|possible|valid|supported|accessible|visible|deployed|run|used) (?:over|via|from|in|on|for|by|when|after|with|at|through)\b", "user", _ASKED),
        ("gotcha", 0.75, r"^(?:no,? |actually,? |wrong,? |but )?(?:the|our|CODE|\w+ \w+) ?[\w ./-]{0,40}\b(?:is|are|takes?|returns?|expects?|uses?|lives?|comes?|belongs?|counts?|means?) [\w ./'-]{1,40}, not (?:in |the |a |an |by |from |on |at |to )?\S+", "user", rf"\b(?:should|want|make|rename|move|show|write|explain|i)\b|\b(?:is|are) (?:\w+ing|called)\b|\b(?:wrong|broken|missing|empty|slow|fast|once|twice|crash\w*|fails?|so (?:the|it))\b|{_TASK}|{_ASKED}"),
        ("gotcha", 0.8, r"\b(?:i|we) (?:had |have |'ve )?(?:first |also |initially |even |already )?tried (?:to )?[\w`]+.*\b(?:but|however|which|and|yet)\b.*\b(?:broke|breaks|fail(?:s|ed)?|didn't|doesn't|did not|does not|hangs?|hung|crash(?:es|ed)?|deadlock(?:s|ed)?|slower|worse|reverted|went back|gave up|undid|backed (?:it|that) out|no effect|not work)\b", "", r"\btried (?:to )?(?:it|that|this|your|again|run|running|open\w*|reproduc\w*|install\w*|access\w*|restart\w*|connect\w*|search\w*|read\w*|find\w*|click\w*|reload\w*|log\w*)\b|\b(?:sandbox|network|permissions?|not found|not installed|exists?|again)\b"),
        ("gotcha", 0.8, r"\b(?:we|you|one) (?:can't|cannot|can not) (?:use|call|rely on|import|upgrade|switch to|enable|mock|cache|share|reuse)\b.*(?::|;|, (?:the|it|they|we|this)\b|\b(?:because|since|as|until|while|or|otherwise)\b)", "", r"\b(?:use|call|import|enable|mock|cache|share|reuse) (?:that|this|it|them|these|the (?:tool|app|site|page))\b|\bnot installed\b|^why\b"),
        ("gotcha", 0.75, r"[,;:.-] (?:please )?(?:remember|note) (?:that|this)(?: please| for later)?[.!]*$", "user"),
        ("gotcha", 0.75, r"^when(?:ever)? (?:you|we) (?:add|change|rename|remove|edit|move|touch|bump|update|create|upgrade) .*\b(?:you|we) (?:also )?(?:must|have to|need to)\b|^when(?:ever)? (?:you|we) (?:add|change|rename|remove|edit|move|touch|bump|update|create|upgrade) [^,]{3,60}, (?:also|always) "),
        ("gotcha", 0.75, r"\bonly (?:pass(?:es)?|works?|runs?|builds?|starts?|compiles?|connects?) (?:if|when|with|after|on|from|inside|while|once)\b", "user", rf"{_ASKED}|{_TASK}"),
        # -- discoveries --------------------------------------------------------------------------------------------------
        ("discovery", 0.95, r"^(?:(?:key|main|important|interesting|central|biggest) )?(?:finding|insight|learning|lesson(?: learned| learnt)?|til|takeaway|discovery)s?: \S"),
        ("discovery", 0.9, r"\broot cause (?:is|was|of [^.]{3,60} (?:is|was)|turned out to be|:)|^root cause: "),
        ("discovery", 0.85, r"\b(?:it )?(?:turns|turned) out (?:that|to be|the|our|there|CODE|a |an |both|it)|\bas it turned out\b|^turns out\b"),
        ("discovery", 0.85, rf"{_WE} (?:learned|learnt|discovered|found out|reali[sz]ed|figured out|noticed|observed|established) (?:that|CODE|the|how|why|both|there)\b"),
        ("discovery", 0.8, rf"{_WE} (?:found|confirmed|verified|saw|checked|measured|proved) that\b"),
        ("discovery", 0.8, r"^(?:figured out|found out|discovered|learned|learnt|noticed|reali[sz]ed|confirmed|found) that\b"),
        ("discovery", 0.8, r"\b(?:the )?(?:actual |real |underlying |main |true |original )?(?:issue|problem|bug|cause|failure|crash|error|culprit|reason)(?: (?:is|was)|(?: [^.,]{3,60}) (?:is|was))(?: caused by| due to| that| in| because|:| CODE| the| a| an)\b"),
        ("discovery", 0.8, r"\b(?:actual|real|underlying|true) (?:cause|problem|issue|reason) is\b"),
        ("discovery", 0.8, r"^(?:the|our) (?:actual |real |right |proper )?(?:fix|solution|workaround|trick) (?:is|was) to \S+ \S+", "agent"),
        ("discovery", 0.75, r"\b(?:issue|problem|bug|failure|crash|error|leak|slowdown|regression|deadlock|it|this)\b (?:is|was|were) (?:caused by|due to)\b"),
        ("discovery", 0.75, r"\b(?:happens|happened|occurs|occurred|crashes|fails|failed|hangs) because\b", "agent"),
        ("discovery", 0.75, r"\bwhich (?:is why|causes|caused|explains|explained)\b|\bthat'?s why\b.*\bCODE\b"),
        ("discovery", 0.75, r"\bcontrary to\b|^(?:interestingly|surprisingly|unexpectedly|curiously|notably), |\bcounter-?intuitively\b"),
        ("discovery", 0.75, r"\b(?:profiling|benchmarking|bisecting|git bisect|measuring|tracing|debugging|testing|logging|the profile|the trace|the benchmark)\b (?:\w+ )?(?:showed|shows|revealed|reveals|points to|pointed to|says) "),
        ("discovery", 0.75, r"\b(?:actually|in fact|in reality) (?:happens?|lives?|reads?|uses?|comes?|goes|calls?|runs?|returns?|writes?|stores?|loads?|depends?|ignores?|means?)\b.*[;,:]|\bunder the hood\b|\binternally\b.*\b(?:loads?|calls?|uses?|creates?|caches?)\b", "agent"),
        ("discovery", 0.75, r"^(?:what happened|explanation|cause|diagnosis|background|fyi|good to know|did you know|worth knowing)[:,] ?\S"),
        ("discovery", 0.75, r"^fyi\b|^(?:by the way|btw),? (?:the|CODE|our)\b", "user"),
        ("discovery", 0.7, r"\bis still (?:used|called|needed|read|loaded|imported)\b.*[:;,]|\bdead code\b", "agent"),
    )
)  # fmt: skip

# What makes a sentence something else, whatever it says.
NOT_STATEMENTS = (
    r"\?\s*$",
    r"^(?:should|could|can|would|will|do|does|did|is|are|what|how|why|which|who|when|where|whether) (?:we|i|you|it|the|this|that|there|about|happens?|did|does|do)\b",
    r"^(?:why|how come) (?:can|can't|cannot|do|don't|does|doesn't|is|isn't|are|aren't|did|didn't|will|won't|would|not)\b",
    r"^(?:if|when|once|after|before|unless|in case) (?:we|you|i)(?:'d|'ve)? (?:decide|chose|choose|want|go|use|pick|would|need|prefer|like|find|are|run)\w*\b",
    r"^if we (?:decided|went|chose|used)|^after the (?:customer|user)|^when i (?:run|click|open|start)",
    r"\b(?:maybe|perhaps|might|not sure|i think|i guess|i suspect|i believe|i wonder|wondering|presumably|probably|possibly|would be|could be|could (?:use|also|try|have|add|be|do)|we should|i would|i'd (?:like|prefer|suggest|recommend)|it seems|looks like|my (?:recommendation|suggestion)|i (?:recommend|suggest|propose|expect|assume))\b",
    r"\b(?:let me|let us (?:see|check)|let's (?:see|check|look|try|find|hope|start|begin|talk|discuss|use this)|i'?ll|i will|i'm going to|i am going to|going to (?:check|decide|look|find|use|try|need)|next,|need to (?:find|decide|figure|check|look|learn|understand|know)|want (?:to|you|me) (?:find|know|understand|decide|to find|to know)|trying to|looking for|look for|still (?:looking|failing|investigating|trying|working))\b",
    r"\b(?:haven't|have not|hasn't|not yet|yet to|didn't|did not|couldn't|unable to|wasn't able to) (?:\w+ )?(?:decide|decided|find|found|chosen|picked|discover|figure|run|touch)",
    rf"\b(?:{_PEOPLE}(?:'ve| have| had)? (?:never|not)|nobody|no one|none of us|neither of us)(?: (?:ever|really|actually|even))? {_SETTLED}\b",
    rf"(?:(?:\bnot|\bnever|\bnobody|\bno one|\bhardly|n't)(?: (?:really|actually|even|ever|so))? {_CLAIMED}|\bdoubt(?:s|ed)?|\b(?:deny|denies|denied|untrue|not true|wrong))(?: that)? {_PEOPLE} (?:\w+ )?{_SETTLED}\b",
    r"^(?:do you |don't you |i |you )?(?:remember|recall) (?:when|how|why|that time|the time|the day)\b",
    r"\b(?:no|any|without) (?:gotchas?|caveats?|trade-?offs?|pitfalls?|findings|decisions?|surprises)\b|\b(?:up to you|your (?:decision|choice|call)|if you (?:prefer|like|want)|unless you object|let me know|option [a-z1-9]\b|one option|as you (?:asked|requested|wished)|as requested|as discussed|as expected|as it should)\b",
    r"\b(?:tests?|builds?|everything|suite|linter|lint|ci|checks?|output|all)\b[^.]{0,30}\b(?:pass(?:es|ed)?|works?|green|succeeds?|succeeded|clean|correct|fine|ok)\b(?:\s*(?:now|as expected|again|locally)?)?[.!]?$",
    r"^(?:please )?(?:fix|add|write|explain|describe|list|document|tell|show|rename|change|replace|summari[sz]e|find|figure|decide|investigate|update|create|implement|check|translate|re-?phrase|re-?word|paraphrase|proof-?read|spell-?check|shorten|make (?:it|sure the tests)|refactor|look)\b",
    r"\b(?:you asked about|summary of|here (?:is|are) (?:a|the|two|some)|section about|heading|the text)\b",
    r"\b(?:was|were|been) easy to\b",
    r"\b(?:typo|forgot to|i should have|my mistake|my last edit|my edit|i made in)\b|\b(?:because|since) i (?:haven't|have not|forgot|did|didn't)\b|\bnot (?:implemented|written|created|done) yet\b",
    r"\bi have not\b|\bi haven't\b|\bi did not touch\b|\b(?:first draft|few minutes|short answers|review the diff|restart the editor)\b",
    r"^(?:the )?(?:user|customer|admin|he|she|they|users|it|this (?:function|method|class))s? (?:can|may|decides?|intentionally|always|chooses?|picks?|has chosen|have chosen|is called)\b|\bthe customer\b|\bwe have chosen (?:files|items)\b",
    r"^be careful not to\b|^don't forget(?: (?:to|about|the|my|your|our|it|me|a)\b|[.!]*$)|^remember (?:to|what)\b|^never mind\b|^always a\b|\b(?:anything else|new to)\b|\bas it should\b",
    r"\b(?:works fine|turns? out (?:fine|well|ok|good)|found it)\b|\bstick(?:ing)? to the plan\b|\bwhere we left off\b",
    r"^i(?:'m| am) (?:using|seeing|getting|running)\b|^i get (?:an|the|this)\b|^i used (?:the \w+ tool|a|the|an)\b|^now i\b",
    r"\b(?:decision|conclusion|convention|rule|policy|discovery|finding|trade-?off|gotcha|warning|caveat|lesson) (?:tree|rate|table|class|component|page|icon|parameter|method|block|view) (?:has|is|with|now|for|are) \b",
)
# A heading under which each item of a list is one.
HEADINGS = (
    ("decision", r"^(?:key |design |technical |main |important )?(?:decisions?|choices)(?: made| taken)?$"),
    ("trade_off", r"^(?:key |known )?trade-?offs?(?: made| accepted)?$"),
    ("gotcha", r"^(?:key |known |important )?(?:gotchas?|caveats?|pitfalls?|things to (?:watch|know|remember)|watch out|warnings?)(?: for .*)?$"),
    ("discovery", r"^(?:key |main |important )?(?:learnings?|lessons?(?: learned| learnt)?|findings?|discover(?:y|ies)|insights?|root causes?|what i (?:learned|found))$"),
)  # fmt: skip
# What explains the sentence before.
CONTINUATIONS = r"^(?:reason:|rationale:|because\b|otherwise\b|this (?:avoids|keeps|means|way|lets|ensures|prevents|breaks|matters)|the reason\b|that way\b|so that\b|instead,|it (?:fails|breaks|crashes|hangs|deadlocks) )"
# Says why a failure went away, after it did.
CAUSES = r"\b(?:root cause|(?:issue|problem|bug|cause|failure|crash|error|culprit|reason)\b.{0,60}\b(?:is|was|were|came|comes)\b|(?:caused by|due to)\b|(?:fails?|failed|crashed|happened|broke|hung) because\b|turn(?:s|ed) out|was (?:missing|wrong|stale|never|not)\b)"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that say nothing by themselves.
COMMON_WORDS = _words(
    "a an the i we you it he she they this that these those is are was were be been am do does did has have had will would can could should may might must not no yes and or but so as at by for from in into of on onto to with without than then there here if when while because since which who whom whose what how why my your our their its me us them one two all any some just only also very really now still too more most much many such own same other another about out up down over again please ok first next"
)
