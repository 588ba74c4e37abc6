"""The node types of statements in a grammar: the table by which control and data flow are read."""

from __future__ import annotations

from dataclasses import dataclass, field

Types = frozenset[str]


def types(text: str) -> Types:
    """Return a set of node types from a space-separated list."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class FlowSyntax:
    """The node types of one language by meaning, and the names of the fields that hold their parts.

    If grammars use different field names for a part, all are listed, and the first that exists counts.
    """

    functions: Types  # everything with its own body, including lambdas
    named_functions: Types  # functions that are statements and bind their name
    classes: Types
    hoists: bool = field(default=False, kw_only=True)  # functions are bound before their block runs
    blocks: Types  # lists of statements
    wrappers: Types = frozenset()  # statements that only wrap another, such as an export
    ifs: Types = frozenset({"if_statement"})
    else_ifs: Types = frozenset()
    elses: Types = frozenset({"else_clause"})
    loops: Types = frozenset({"while_statement", "for_statement"})
    do_loops: Types = frozenset({"do_statement"})
    switches: Types = frozenset({"switch_statement"})
    cases: Types = frozenset()
    defaults: Types = frozenset()  # a case that always matches
    case_labels: Types = frozenset()  # parts of a case that are not statements
    case_label_fields: Types = frozenset({"value"})
    falls_through: Types = frozenset()  # cases that fall through into the next
    fall_statements: Types = frozenset()  # an explicit fall-through
    breaks_switches: bool = True  # `break` leaves a switch
    tries: Types = frozenset({"try_statement"})
    handlers: Types = frozenset({"catch_clause"})
    finals: Types = frozenset({"finally_clause"})
    withs: Types = frozenset()
    returns: Types = frozenset({"return_statement"})
    raises: Types = frozenset({"throw_statement"})
    breaks: Types = frozenset({"break_statement"})
    continues: Types = frozenset({"continue_statement"})
    labels: Types = frozenset({"labeled_statement"})
    ignored: Types = frozenset({"comment", "line_comment", "block_comment", ";", "empty_statement"})
    docstrings: Types = frozenset()  # a docstring, as a function's first statement
    # names
    identifiers: Types = frozenset({"identifier"})
    assignments: Types = frozenset({"assignment_expression"})
    updates: Types = frozenset({"augmented_assignment_expression", "update_expression"})
    declarators: Types = frozenset({"variable_declarator"})
    attributes: dict[str, tuple[str, str]] | None = None  # type: (field of the object, field of the attribute's name)
    subscripts: dict[str, str] | None = None  # type: field of the object
    calls: dict[str, tuple[str, str]] | None = None  # type: (field of what is called or of the receiver, of the name)
    comprehensions: Types = frozenset()
    comprehension_clauses: Types = frozenset()
    skipped: Types = frozenset()  # have no value
    skipped_fields: frozenset[tuple[str, str]] = frozenset()
    outer_statements: Types = frozenset()  # declare variables of an outer scope: `nonlocal`
    declares_locals: bool = True  # a name that is assigned but not declared belongs to the outer scope
    own_name: str = ""  # the implicit name of a method's object
    mutators: Types = frozenset()  # methods that change their object even if their result is used
