"""Count long sentences of the README and the documentation, and docstrings that begin with a verb.

`python tests/plain_words.py` prints both, with the longest sentences.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONG = 30
#: Words that are odd or dated, or that mean too much.
ODD = re.compile(
    r"\b(anew|dear|kin|forerunners?|yardsticks?|and the like|in vain|sign of life|told apart|told of|looked at|serves|"
    r"so many|as many as|of which none|in so many words|says so|what it is worth|wished|heard of|unites|nobody knows)\b"
)
#: Verbs with which docstrings of the package begin.
VERBS = set(
    re.findall(
        r"\w+",
        """Add Append Apply Broadcast Build Call Change Check Choose Clip Combine Commit Compare Compute Count Credit
    Deactivate Decide Decorate Divide Do Draw Encrypt Enter Estimate Evaluate Fill Find Fit Fold Follow Forget Give Go
    Hold Import Join Judge Keep Leave Let Look Make Map Mark Move Multiply Open Pad Permute Pick Print Pull Put Raise
    Read Reduce Refuse Register Remember Remove Repeat Reproduce Reshape Return Round Run Say Set Show Slice Split
    Start Stop Sweep Switch Take Tell Test Trace Turn Unite Use Wait Warn Write Yield""",
    )
)


def texts() -> dict[Path, str]:
    """Return the README and the pages that are written by hand."""
    pages = sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs").glob("*/*.md"))
    written = {"algorithms", "api", "_build", "jupyter_execute"}
    made = {"problems_table.md", "theory_table.md", "protocol_text.md"}
    pages = [page for page in pages if page.parent.name not in written and page.name not in made]
    return {path: path.read_text() for path in [ROOT / "README.md", *pages]}


def sentences(text: str) -> list[str]:
    """Return the sentences of a page, without code, tables and links; an item of a list ends one."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^(`{3,}).*?^\1`*$", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\s*(\||<|#|!\[).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`", "X", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^\s*([-*]|\d+\.)\s+", "\n\n", text, flags=re.MULTILINE)
    found = (re.split(r"(?<=[.!?:])\s+(?=[\"'(*]*[A-ZΑ-Ω0-9])", block) for block in re.split(r"\n\s*\n", text))
    return [" ".join(sentence.split()) for block in found for sentence in block if len(sentence.split()) > 1]


def long_ones(text: str) -> list[str]:
    """Return the sentences of more than `LONG` words."""
    return [sentence for sentence in sentences(text) if len(sentence.split()) > LONG]


def docstrings() -> Iterator[str]:
    """Yield the docstrings of the package's functions and methods; a property is a noun."""
    for path in sorted((ROOT / "jaxbandits").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                nouns = {"property", "cached_property"}
                names = {getattr(d, "id", getattr(d, "attr", "")) for d in node.decorator_list}
                if not names & nouns and (text := ast.get_docstring(node)):
                    yield text


def begins_with_a_verb(text: str) -> bool:
    """Return whether a docstring begins with a verb of the list."""
    return text.split()[0] in VERBS


if __name__ == "__main__":
    every = {path: sentences(text) for path, text in texts().items()}
    total = sum(map(len, every.values()))
    long = [(len(s.split()), path.name, s) for path, text in texts().items() for s in long_ones(text)]
    print(f"sentences over {LONG} words: {len(long)} of {total}, {len(long) / total:.1%}")
    for count, name, sentence in sorted(long, reverse=True)[:40]:
        print(f"  {count} {name}: {sentence[:110]}")
    told = [begins_with_a_verb(text) for text in docstrings()]
    print(f"docstrings of functions that begin with a verb: {sum(told)} of {len(told)}, {sum(told) / len(told):.0%}")
    odd = [(path.name, found[0]) for path, text in texts().items() for found in ODD.finditer(text)]
    print(f"odd words: {len(odd)} {odd[:20]}")
    print(f"README: {len((ROOT / 'README.md').read_text())} characters")
