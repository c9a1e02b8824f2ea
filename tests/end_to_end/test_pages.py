"""The README and the documentation: their code and their links; `test_page_commands.py` runs their commands.

`python -m sphinx -W docs docs/_build` runs the same code at its full size.
"""

import re

import pytest

import jaxbandits as jb
from jaxbandits.comparison import candidates
from tests.end_to_end.pages import PAGES, first_each_time
from tests.few_rules import FEW
from tests.plain_words import ROOT, blocks

#: At most so many runs.
RUNS = 20
#: What makes a page's code small, or complete: a text of the page, and what takes its place.
SMALLER = {
    "docs/betting.md": {"[0.03, 0.1, 0.25], [3, 24, 99]": "[0.25], [3]"},
    "docs/costs.md": {"[100, 1000, 10_000]": "[4]", "MABPPR(epsilon=0.1,": "MABPPR(epsilon=0.5,", "1000": "150"},
    "docs/gradients.md": {
        "steps=40,": "steps=2, instances=2, seeds=5, held_out=4,",
        "[0.8, 0.7, 0.6, 0.5, 0.4]))": "[0.8, 0.7, 0.6, 0.5, 0.4]), steps=2, seeds=50)",
    },
    "docs/examples/ab_test.md": {"[0.06, 0.04, 0.035, 0.03]": "[0.5, 0.1, 0.1, 0.1]"},
    "docs/sweeps.md": {"first_seed=2000": f"first_seed={RUNS}", "n=10": "n=4"},
}


def program(name):
    """Return the code of a page, at a small size."""
    code = "\n".join(blocks(PAGES[name], ("python", "{code-cell} ipython3")))
    code = code.replace("%matplotlib inline\n", "")
    for there, instead in SMALLER.get(name, {}).items():
        assert there in code, there
        code = code.replace(there, instead)
    return re.sub(r"(?<!first_)seeds=([\d_]+)", lambda found: f"seeds={min(int(found[1]), RUNS)}", code)


@pytest.mark.parametrize("name", first_each_time(n for n in PAGES if program(n).strip()))
def test_the_code_of_a_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where it may write
    monkeypatch.setattr(candidates, "REGISTRY", FEW)
    monkeypatch.setattr(jb, "use_all_cores", lambda: None)  # JAX has started
    exec(compile(program(name), name, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("name", PAGES)
def test_the_links_of_a_page_lead_somewhere(name):
    place = (ROOT / name).parent
    made = ("algorithms/", "api/")  # written with the site
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", PAGES[name])):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        if path.startswith(made):
            assert name != "README.md", target
            continue
        file = place / path if path else ROOT / name
        assert file.exists(), target
        headings = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {re.sub(r"[^\w -]", "", h).strip().lower().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("name", PAGES)
def test_the_files_that_a_page_names_are_there(name):
    named = set(re.findall(r"\b(?:jaxbandits|experiments|tests|docs)/[\w/.-]+\.\w+", PAGES[name]))
    assert not [file for file in named if "/_build/" not in file and not (ROOT / file).exists()]


def test_every_page_is_in_the_contents():
    contents = PAGES["docs/index.md"]
    trees = "\n".join(re.findall(r"```{toctree}\n(.*?)```", contents, re.DOTALL))
    listed = re.findall(r"^([a-z_]+(?:/[a-z_]+)?)$", trees, re.MULTILINE)
    there = {name.removeprefix("docs/").removesuffix(".md") for name in PAGES if name.startswith("docs/")} - {"index"}
    assert there == set(listed) - {"algorithms/index", "api/index"}


def test_the_readme_is_short():
    assert len(PAGES["README.md"]) <= 8000
