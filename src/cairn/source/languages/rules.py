"""How a language finds what a name means, as data for the symbol graph."""

from __future__ import annotations

from typing import NamedTuple


class Rules(NamedTuple):
    """How one language finds what a name means.

    Attributes:
        family: languages of one family see each other's definitions; empty where names alone tell.
        finder: how `cairn.graph.modules` gets from an import to a file, empty if it cannot.
        this: the words for the object whose method is running; `types` for its class; `parents` for what it inherits.
        prefix: what an attribute of that object begins with where no such word precedes it, such as Ruby's `@`.
        implicit: whether a method calls another of its object without such a word.
        package: where names are visible without an import: `file`, `directory`, `package` (by declaration), or `all`.
        open_types: whether methods of a type may be written outside of it, even in other files.
        open_namespaces: whether the names in a namespace are visible in the rest of its file without qualification.
        type_side: where a type stands: `after` (`x: T`), `before` (`T x`), `go` (`x T`), or empty for none.
        result: the mark before the type a function returns, empty where it stands before the name.
        maker: the method of a class that returns an instance, such as Ruby's `new`.
        constructor: the method that runs then.
        exports: what lets other files use a definition: `name` (no underscore before it), `capital` (its first letter),
            or `word` (such as `public` in its head).
        exports_members: whether they may use all members of a type, whatever `exports` says.
        global_functions: whether a name that a package lacks may be a function outside of all packages.
        methods_apart: whether a call never means a variable, so that both may have one name.
        outer_packages: whether the names of the packages around a file's own are visible in it.
        capital_types: whether a name with a capital letter is one of a type, so that one not found is from elsewhere,
            and so is what has such a type.
        functions_apart: whether a call never means a variable or a parameter of its name.
        extension: what the first parameter of a function begins with that is called like a method of its type.
        attribute_suffix: what the name of a decorating type may end with and a decoration leaves out.
        head_parameters: whether parameters in the head of a class are visible in its body.
        by_name: whether the only function of a name in the project is what a call of unknown meaning leads to.
        bounds: whether type parameters say what they must be, as in `<T: Bound>`.
        fields_apart: whether a field and a method of a type may share a name.
        class_part: the module in a module whose methods the classes that include the outer one have themselves.
        mixins: what inherits members without being a type.
        parameters_keep_types: whether a parameter is of its declared type whatever is assigned to its name.
        functions_are_objects: whether a function has attributes, so that what names one of these uses the function.
        component: the type at the top of a file whose members are known there by their names, as in templates of Vue.
        built_in: functions that the language has itself, which a file may replace for itself alone.
        paths_marked: whether expressions keep the mark behind a name that can only be the beginning of a path.
    """

    family: str
    finder: str = ""
    this: frozenset[str] = frozenset({"this"})
    types: frozenset[str] = frozenset()
    parents: frozenset[str] = frozenset({"super"})
    prefix: str = ""
    implicit: bool = False
    package: str = "file"
    open_types: bool = False
    open_namespaces: bool = True
    type_side: str = ""
    result: str = ""
    maker: str = ""
    constructor: str = "constructor"
    exports: str = "name"
    exports_members: bool = False
    global_functions: bool = False
    methods_apart: bool = False
    outer_packages: bool = False
    capital_types: bool = False
    functions_apart: bool = False
    extension: str = ""
    attribute_suffix: str = ""
    head_parameters: bool = False
    by_name: bool = True
    bounds: bool = False
    fields_apart: bool = False
    class_part: str = ""
    mixins: frozenset[str] = frozenset()
    parameters_keep_types: bool = False
    functions_are_objects: bool = False
    component: str = ""
    built_in: frozenset[str] = frozenset()
    paths_marked: bool = False


def words(*names: str) -> frozenset[str]:
    """Return words as a set."""
    return frozenset(names)
