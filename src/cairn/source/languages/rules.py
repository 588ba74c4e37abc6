"""How names resolve in a language, as data for the symbol graph."""

from __future__ import annotations

from typing import NamedTuple


class Rules(NamedTuple):
    """How names resolve in one language.

    Attributes:
        family: languages of a family see each other's definitions; empty if only names count.
        finder: how `cairn.graph.modules` finds the file of an import, empty if it cannot.
        this: the words for a method's own object; `types` for its class; `parents` for its superclass.
        prefix: what marks an attribute of that object instead of such a word, such as Ruby's `@`.
        implicit: whether methods call each other without such a word.
        package: where names are visible without an import: `file`, `directory`, `package` (by declaration), or `all`.
        open_types: whether methods of a type may be defined outside of it, even in other files.
        open_namespaces: whether a namespace's names are visible unqualified in the rest of its file.
        type_side: the position of types: `after` (`x: T`), `before` (`T x`), `go` (`x T`), or empty for none.
        result: the mark before a function's result type, empty if the type comes before the name.
        maker: the method of a class that returns an instance, such as Ruby's `new`.
        constructor: the method that `maker` runs.
        exports: what makes a definition public: `name` (no leading underscore), `capital` (a capital first letter), or
            `word` (such as `public` in its head).
        exports_members: whether all members of a type are public, whatever `exports` says.
        global_functions: whether a name missing in a package may be a function outside of all packages.
        methods_apart: whether calls never refer to variables, so that methods and variables may share a name.
        outer_packages: whether names of enclosing packages are visible.
        capital_types: whether capitalised names are types, so that an unknown one, and anything of that type, is from
            elsewhere.
        functions_apart: whether a call never refers to a variable or parameter of that name.
        extension: how the first parameter of an extension method begins.
        attribute_suffix: a suffix of attribute types that may be omitted where they are applied.
        head_parameters: whether parameters in a class's head are visible in its body.
        by_name: whether an unresolved call means the only function of that name in the project.
        bounds: whether type parameters have bounds, as in `<T: Bound>`.
        fields_apart: whether a field and a method of a type may share a name.
        class_part: the inner module whose methods become class methods of classes that include the outer one.
        mixins: kinds that inherit members without being types.
        parameters_keep_types: whether a parameter keeps its declared type whatever is assigned to it.
        functions_are_objects: whether functions have attributes, so that using one of these uses the function.
        component: the top-level type whose members are visible by name, as in Vue templates.
        built_in: functions of the language itself, which a file may shadow only for itself.
        paths_marked: whether expressions keep the mark after a name that must be the beginning of a path.
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
    """Return a set of space-separated words."""
    return frozenset(names)
