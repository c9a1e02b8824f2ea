"""The pages of the documentation, and which of them are run each time."""

from collections.abc import Iterable
from typing import Any

import pytest

from tests.plain_words import ROOT, texts

#: Texts by their paths.
PAGES = {path.relative_to(ROOT).as_posix(): text for path, text in texts().items()}
#: What a newcomer reads first, and what takes no programs of its own.
FIRST = ("README.md", "docs/getting_started.md", "docs/problems.md", "docs/theory.md", "docs/extending/algorithm.md")


def first_each_time(names: Iterable[str]) -> list[Any]:
    """Return the pages to run; others than the first are slow tests, and the site's build runs their code, too."""
    return [pytest.param(name, marks=[pytest.mark.slow] * (name not in FIRST)) for name in names]
