"""Texts are in plain English: no odd words, short sentences, docstrings that begin with a verb (`plain_words.py`)."""

from tests.plain_words import (
    begins_with_a_verb,
    long_ones,
    odd_words,
    of_package,
    sentences,
    sentences_of,
    summaries,
    texts,
    texts_of,
)

#: The least share of functions whose docstrings begin with a verb of the list; Ruff's D401 finds fewer that do not.
VERBS = 0.99
#: The largest share of sentences of more than 30 words.
LONG = 0.01


def test_no_text_has_an_odd_word():
    assert not odd_words()


def test_docstrings_begin_with_a_verb():
    found = summaries()
    without = [(text.path.name, text.line, text.text) for text in found if not begins_with_a_verb(text)]
    assert len(without) <= (1 - VERBS) * len(found), without


def test_sentences_of_the_documentation_are_short():
    found = [sentence for text in texts().values() for sentence in sentences(text)]
    assert len(long := long_ones(found)) <= LONG * len(found), long


def test_sentences_of_docstrings_are_short():
    docstrings = [text for text in of_package() if text.kind == "docstring"]
    found = [sentence for text in docstrings for sentence in sentences_of(text)]
    assert len(long := long_ones(found)) <= LONG * len(found), long


MODULE = '''"""A room.

It has arms, `anew`, for
all.
"""


def odd(x: int) -> None:
    """A noun.

    Args:
        x: how many.

    Example:
        >>> odd(1)
    """
    # why
    raise ValueError(f"{x} is told " "of")
'''


def test_texts_of_a_module_are_found(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    found = {(text.kind, " ".join(text.prose.split())) for text in texts_of(path)}
    assert found == {
        ("docstring", "A room. It has arms, X, for all."),
        ("docstring", "A noun. Args: x: how many."),
        ("comment", "why"),
        ("string", "X is told of"),
    }
    (docstring,) = summaries(tmp_path)
    assert not begins_with_a_verb(docstring)
    assert sentences_of(docstring) == ["A noun.", "how many."]
    assert len(long_ones([" ".join(["word"] * count) for count in (30, 31)])) == 1
