from cairn.graph import made_names


def test_what_macros_that_join_names_are_given_is_told() -> None:
    text = b"#define ON(kind) \\\n  void on_##kind(void)\n#define SUM(a, b) a + b\nON(opened)\nSUM(left, right)\n"
    assert made_names._joined([text]) == {"kind", "opened"}


def test_a_macro_that_never_ends_is_read_in_one_pass() -> None:
    begun = b"#define a(\\\n"
    assert made_names._joined([b"// ##\n" + begun * (1_000_000 // len(begun))]) == set()
