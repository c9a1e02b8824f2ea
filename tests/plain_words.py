"""Find odd words, long sentences and docstrings without a verb, in the package's texts and in the documentation.

`python tests/plain_words.py [FOLDER]` lists them, of the modules in a folder of the package if one is given;
`tests/test_words.py` holds what has been reached.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "jaxbandits"
#: The most words of a sentence.
LONG = 30
#: Words that are odd or dated, or that mean too much. "Stands for" is plain.
ODD = re.compile(
    r"\b(anew|dear|dearer|dearest|kin|forerunners?|yardsticks?|and the like|in vain|signs? of life|told apart|told of|"
    r"looked at|stands?(?! for\b|-)|serves|so many|as many as|like cells|runs? of (?:its|their) own|of which none|"
    r"in so many words|one line says so|what it is worth|wished|heard of|unites|nobody knows)\b",
    re.IGNORECASE,
)
#: Verbs with which docstrings of the package begin.
VERBS = set(
    re.findall(
        r"\w+",
        """Accept Add Adopt Align Allocate Append Apply Arrange Assemble Attach Begin Bind Broadcast Build Cache
    Call Cast Change Check Choose Clip Close Collect Combine Commit Compare Compile Compute Continue Convert Copy Count
    Create Credit Deactivate Decide Declare Decorate Delete Dispatch Divide Do Draw Drop Encrypt Enter Estimate
    Evaluate Fill Find Finish Fit Fold Follow Force Forget Format Give Go Group Hold Import Insert Invert Join Judge
    Keep Leave Let List Load Locate Log Look Make Map Mark Maximise Measure Merge Minimise Move Multiply Name
    Normalise Open Pack Pad Parse Permute Pick Plot Print Project Pull Put Raise Rank Read Record Reduce Refuse
    Register Reject Remember Remove Repeat Replace Report Reproduce Reset Reshape Resolve Restore Return Round Run
    Sample Save Say Scale Search Select Send Serialize Set Shield Show Simulate Skip Slice Solve Sort Split Start
    Step Stop Store Subtract Suggest Sum Swap Sweep Switch Take Tell Test Time Trace Tune Turn Unite Unpack Unroll
    Update Use Validate Wait Warn Weigh Wrap Write Yield""",
    )
)


class Text(NamedTuple):
    """A text of a module, and where it is."""

    path: Path
    line: int
    kind: str  # "docstring", "comment" or "string"
    text: str

    @property
    def prose(self) -> str:
        """Return the text without code and examples."""
        text = re.sub(r"^ *(Example|Examples):\n.*", "", self.text, flags=re.DOTALL | re.MULTILINE)
        return re.sub(r"``?[^`\n]*`?`", "X", text)


def texts() -> dict[Path, str]:
    """Return the README and the pages that are written by hand."""
    pages = sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs").glob("*/*.md"))
    written = {"algorithms", "api", "_build", "jupyter_execute"}
    made = {"problems_table.md", "theory_table.md", "protocol_text.md"}
    pages = [page for page in pages if page.parent.name not in written and page.name not in made]
    return {path: path.read_text() for path in [ROOT / "README.md", *pages]}


def blocks(text: str, languages: tuple[str, ...]) -> list[str]:
    """Return the code of a page's blocks in these languages, in the page's order."""
    found = re.findall(r"^(`{3,})([^\n]*)\n(.*?)^\1`*$", text, re.DOTALL | re.MULTILINE)
    return [code for _, language, code in found if language.strip() in languages]


def texts_of(path: Path) -> Iterator[Text]:
    """Yield the docstrings, the comments and the other strings of several words of a module."""
    source = path.read_text()
    tree = ast.parse(source)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if text := ast.get_docstring(node):
                docstrings.add(id(node.body[0].value))
                yield Text(path, node.body[0].lineno, "docstring", text)
        elif isinstance(node, ast.JoinedStr):
            docstrings |= {id(part) for part in node.values}
            parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
            yield Text(path, node.lineno, "string", "".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and id(node) not in docstrings and " " in str(node.value).strip():
            yield Text(path, node.lineno, "string", str(node.value))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(path, token.start[0], "comment", token.string.lstrip("#: "))


def of_package(folder: Path = PACKAGE) -> list[Text]:
    """Return the texts of the modules in a folder."""
    return [text for path in sorted(folder.rglob("*.py")) for text in texts_of(path)]


def sentences(text: str) -> list[str]:
    """Return the sentences of a page, without code, tables and links; an item of a list ends one."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^(`{3,}).*?^\1`*$", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\s*(\||<|#|!\[).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`]*`", "X", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^\s*([-*]|\d+\.)\s+", "\n\n", text, flags=re.MULTILINE)
    return _split(text)


def sentences_of(docstring: Text) -> list[str]:
    """Return the sentences of a docstring, without its examples; an argument, an attribute or an item ends one."""
    text = re.sub(r"^ {4,}\S.*->.*$", "\n", docstring.prose, flags=re.MULTILINE)
    text = re.sub(r"^ *(\w+(, \w+)*: |[-*] |\w+:$)", "\n\n", text, flags=re.MULTILINE)
    return _split(text)


def _split(text: str) -> list[str]:
    """Return the sentences of more than one word of the paragraphs of a text."""
    found = (re.split(r"(?<=[.!?:;])\s+(?=[\"'(*]*[A-ZΑ-Ω0-9])", block) for block in re.split(r"\n\s*\n", text))
    return [" ".join(sentence.split()) for block in found for sentence in block if len(sentence.split()) > 1]


def long_ones(found: list[str]) -> list[str]:
    """Return the sentences of more than `LONG` words."""
    return [sentence for sentence in found if len(sentence.split()) > LONG]


def summaries(folder: Path = PACKAGE) -> list[Text]:
    """Return the docstrings of functions and methods; a property is a noun."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = {getattr(d, "id", getattr(d, "attr", "")) for d in node.decorator_list}
                if not names & {"property", "cached_property"} and (text := ast.get_docstring(node)):
                    found.append(Text(path, node.lineno, "docstring", text))
    return found


def begins_with_a_verb(text: Text) -> bool:
    """Return whether a docstring begins with a verb of the list."""
    return text.text.split()[0].rstrip(",.") in VERBS


def odd_words() -> list[str]:
    """Return the odd words of the package and of the documentation, with their place."""
    places = [(text.path, text.line, text.prose) for text in of_package()]
    others = {ROOT / name: (ROOT / name).read_text() for name in ("CONTRIBUTING.md", "CHANGELOG.md")}
    for path, page in (texts() | others).items():
        places += [(path, number, re.sub(r"`[^`]*`", "X", line)) for number, line in enumerate(page.splitlines(), 1)]
    return [
        f"{path.relative_to(ROOT)}:{line}: {found[0]}"
        for path, line, text in places
        for found in ODD.finditer(" ".join(text.split()))
    ]


def _print(folder: Path) -> None:
    """Print what is to be mended."""
    inside = folder.relative_to(ROOT).as_posix()
    for place in odd_words():
        if place.startswith(inside) or folder == PACKAGE:
            print(f"odd: {place}")
    heads = summaries(folder)
    without = [text for text in heads if not begins_with_a_verb(text)]
    for text in without:
        print(f"no verb: {text.path.relative_to(ROOT)}:{text.line}: {text.text.splitlines()[0]}")
    docstrings = [text for text in of_package(folder) if text.kind == "docstring"]
    every = [(text, sentence) for text in docstrings for sentence in sentences_of(text)]
    long = [(len(sentence.split()), text, sentence) for text, sentence in every if long_ones([sentence])]
    for count, text, sentence in sorted(long, key=lambda one: -one[0]):
        print(f"{count} words: {text.path.relative_to(ROOT)}:{text.line}: {sentence}")
    print(f"with a verb: {len(heads) - len(without)} of {len(heads)}; long: {len(long)} of {len(every)}")
    pages = [sentence for page in texts().values() for sentence in sentences(page)]
    print(f"documentation: {len(long_ones(pages))} long of {len(pages)}")


if __name__ == "__main__":
    _print(PACKAGE / sys.argv[1] if sys.argv[1:] else PACKAGE)
