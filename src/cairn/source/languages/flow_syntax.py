"""What statements are called in a grammar: the table from which control and data flow are read."""

from __future__ import annotations

from dataclasses import dataclass, field

Types = frozenset[str]


def types(text: str) -> Types:
    """Return the node types in a text, which are separated by spaces."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class FlowSyntax:
    """The node types of one language, by what they mean; a field says which child plays which part.

    Where grammars use different field names for a part, all names that occur are listed, and the first that exists
    counts.
    """

    functions: Types  # what has a body of its own, lambdas included
    named_functions: Types  # those that are statements and bind their name
    classes: Types
    hoists: bool = field(default=False, kw_only=True)  # functions of a block are bound before it runs
    blocks: Types  # lists of statements
    wrappers: Types = frozenset()  # statements that only hold another, such as an export
    ifs: Types = frozenset({"if_statement"})
    else_ifs: Types = frozenset()
    elses: Types = frozenset({"else_clause"})
    loops: Types = frozenset({"while_statement", "for_statement"})
    do_loops: Types = frozenset({"do_statement"})
    switches: Types = frozenset({"switch_statement"})
    cases: Types = frozenset()
    defaults: Types = frozenset()  # a case that matches always
    case_labels: Types = frozenset()  # in a case: not a statement
    case_label_fields: Types = frozenset({"value"})
    falls_through: Types = frozenset()  # cases that run on into the next
    fall_statements: Types = frozenset()  # say so explicitly
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
    docstrings: Types = frozenset()  # expressions that document a function as its first statement
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
    skipped: Types = frozenset()  # hold no value
    skipped_fields: frozenset[tuple[str, str]] = frozenset()
    outer_statements: Types = frozenset()  # name variables of the scope around: `nonlocal`
    declares_locals: bool = True  # a name that is only assigned, not declared, belongs to the scope around
    own_name: str = ""  # how a method calls its object without declaring it
    mutators: Types = frozenset()  # methods that change what they are called on though their result is used
