"""What resolving names has to know of kinds, of common names, and of a language: the rules that its folder holds."""

from __future__ import annotations

from functools import cache

from cairn.source.languages import load_part
from cairn.source.languages.rules import Rules as Rules

FUNCTION_KINDS = frozenset({"function", "method", "constructor", "destructor", "test", "macro", "alias", "task"})
TYPE_KINDS = frozenset(
    {"class", "interface", "struct", "trait", "impl", "enum", "contract", "record", "object", "extension", "instance"}
    | {"protocol", "union", "type", "delegate", "concept", "mixin"}
)
OPEN_KINDS = frozenset({"interface", "protocol", "trait"})  # what others implement
NAMESPACE_KINDS = frozenset({"namespace", "module", "package", "library"})
VALUE_KINDS = frozenset({"variable", "constant", "field", "property", "event", "key"})
SCOPELESS_KINDS = VALUE_KINDS | {"type", "macro", "section"}  # what stands within belongs to what is around
RECEIVER_BEFORE_NAME = "."  # as `Rules.extension`
BY_NAME_ONLY = Rules("", package="all")


@cache
def rules_of(language: str) -> Rules:
    """Return the rules of a language; one without rules of its own is resolved by name only."""
    resolution = load_part(language, "resolution")
    return resolution.RULES if resolution is not None else BY_NAME_ONLY


def resolves_imports(language: str) -> bool:
    """Tell whether imports of a language lead to files."""
    rules = rules_of(language)
    return bool(rules.finder) or rules.package == "package"


# Methods that the standard libraries' types have, so that one definition of the name in a project proves nothing.
_COMMON = """
    add addeventlistener append apply at bind call capitalize catch clear clone close cmp collect concat connect
    contains copy count create data decode default delete dict display done drop dump dumps dup each emit empty
    encode end endswith entries eq equals error exec execute exists exit expect extend fetch fileno fill filter
    finally find first flat flatten flush fmt fold foreach format freeze from fromkeys get getname gettype getvalue
    group groups handle has hash hashcode head id include index indexof info init insert inspect into invoke is_empty
    is_none is_some isempty item items iter join json key keys kill last len length lines list listen load loads
    lock log lower main map match matches max merge message method_missing min name new next nil normalize notify
    now ok on open options or_else order parse peek pop popitem post prepend print println process public_send push
    put query race raise read readline readlines recv reduce register reject release remove removeeventlistener
    render replace request reset resolve respond_to rest result resume return reverse rows run save search seek
    select send set setdefault setup setvalue shape shift size sleep slice some sort sorted source splice split
    splitlines start startswith state status stop str string strip sub sum symmetric synchronize tail take teardown
    tell test text then throw title to_s to_string to_vec toarray tojson tolist tolowercase tostring touppercase
    trim truncate try type union unlock unwrap update upper url use validate value valueof values view wait warn
    with wrap write writelines zip
    assign at codepointat charat charcodeat copywithin endswith entries every fill findindex findlast findlastindex
    flatmap fromcharcode getownpropertynames hasown hasownproperty includes indexof isarray isfinite isinteger isnan
    isprototypeof lastindexof localecompare matchall padend padstart parsefloat parseint propertyisenumerable
    reduceright repeat replaceall startswith substr substring tofixed tolocalestring toprecision toreversed tosorted
    trimend trimstart unshift defineproperty defineproperties getownpropertydescriptor getprototypeof setprototypeof
    allsettled appendchild blur click clonenode closest createelement dispatchevent focus getattribute
    getboundingclientrect getcomputedstyle getelementbyid getelementsbytagname getpropertyvalue hasattribute
    insertbefore preventdefault queryselector queryselectorall reload removeattribute removechild replacechild
    removeproperty scrollintoview setattribute setproperty setinterval settimeout stoppropagation
    addall booleanvalue bytevalue charvalue compareto computeifabsent containsall containskey containsvalue
    doublevalue entryset floatvalue getactualtypearguments getannotation getannotations getbytes getcanonicalname
    getcause getclassloader getcomponenttype getconstructor getconstructors getdeclaredconstructor
    getdeclaredconstructors getdeclaredfield getdeclaredfields getdeclaredmethod getdeclaredmethods getdeclaringclass
    getenclosingclass getenumconstants getfield getfields getgenericcomponenttype getgenericsuperclass
    getgenerictype getinterfaces getkey getlocalizedmessage getlowerbounds getmethod getmethods getmodifiers
    getmodule getownertype getpackage getparameters getparametertypes getrawtype getreturntype getsimplename
    getstacktrace getsuperclass gettype gettypename getupperbounds intvalue isannotationpresent isassignablefrom
    isblank isinstance isinterface isprimitive iterator keyset lastindexof longvalue newinstance orelsethrow
    orelseget parallelstream printstacktrace putall putifabsent removeall removeif retainall setaccessible
    shortvalue subsequence sublist tostring
"""
# Methods that the standard libraries' types have, so that one definition of the name in a project proves nothing.
# In lower case.
COMMON_NAMES = frozenset(_COMMON.split())
