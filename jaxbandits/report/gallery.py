"""One static page of figures: it opens without a network, with pictures and numbers beside it."""

import dataclasses
import datetime
import importlib.metadata
import platform
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import jax
from matplotlib.figure import Figure

from jaxbandits.io.csv_files import Table

__all__ = ["Exhibit", "exhibit", "write_gallery"]

_CSS = """
body { font: 16px/1.55 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0.2rem; }
h2 { font-size: 1.25rem; margin: 0 0 1.2rem; }
h3 { font-size: 1rem; font-weight: 600; margin: 0 0 0.6rem; color: #555; }
nav p { margin: 0.5rem 0; font-size: 0.92rem; }
nav a { margin-right: 1.2rem; white-space: nowrap; }
a { color: #0060a8; }
.run, figcaption dd, figcaption dt { font-size: 0.92rem; }
.run { color: #555; }
section { border-top: 2px solid #bbb; margin-top: 2.5rem; padding-top: 1.5rem; }
article + article { border-top: 1px solid #ddd; margin-top: 2rem; padding-top: 1.5rem; }
figure { margin: 0; }
img { width: 100%; min-width: 40rem; height: auto; display: block; }
dl { display: grid; grid-template-columns: 7.5rem 1fr; gap: 0.35rem 1rem; margin: 0.8rem 0; }
dt { font-weight: 600; }
dd { margin: 0; }
.scroll { overflow-x: auto; }
.hint { display: none; color: #555; font-size: 0.85rem; margin: 0.3rem 0; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #e3e3e3; padding: 0.25rem 0.7rem; text-align: right; white-space: nowrap; }
code { background: #f3f3f3; padding: 0.1rem 0.3rem; border-radius: 3px; }
@media (max-width: 42rem) { dl { grid-template-columns: 1fr; } .hint { display: block; } }
"""


@dataclasses.dataclass(frozen=True)
class Exhibit:
    """A figure on disk, and what a reader must know to trust it."""

    name: str  #: stem of its files, and its anchor on the page
    finding: str  #: one sentence: what the figure shows, the picture's own title
    drawn: str  #: what is drawn
    settings: str  #: problem, parameters
    runs: int  #: simulated runs behind it
    seconds: float  # : their time, compilation included
    notes: tuple[str, ...]  # : differences from the paper, and why; limits of the numbers
    picture: Path
    numbers: Path
    alt: str  #: the picture in words


def exhibit(out: Path, name: str, picture: Figure, numbers: Any, **caption: Any) -> Exhibit:
    """Write a figure and its numbers, a tidy DataFrame, into a folder; `caption` has the other fields of `Exhibit`."""
    shown = Exhibit(name=name, picture=out / f"{name}.png", numbers=out / f"{name}.csv", **caption)
    picture.savefig(shown.picture)
    numbers.to_csv(shown.numbers, index=False, float_format="%.6g", encoding="utf-8")
    return shown


def write_gallery(out: Path, groups: Sequence[tuple[str, Sequence[Exhibit]]], command: str, seconds: float) -> Path:
    """Write `index.html` next to the exhibits' files.

    Args:
        out: the folder that holds them.
        groups: what to show, in order: headings, such as papers, each with its exhibits.
        command: the command that made it.
        seconds: what all of it took.

    Returns:
        The page's path.
    """
    version = importlib.metadata.version("jaxbandits")
    day = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    run = (
        f"jaxbandits {version}, JAX {jax.__version__}, Python {platform.python_version()}, {_device()}; "
        f"{_duration(seconds)} in all, {day}."
    )
    links = sections = ""
    for title, exhibits in groups:
        names = " ".join(f'<a href="#{escape(shown.name)}">{escape(shown.name)}</a>' for shown in exhibits)
        links += f"<p>{escape(title)}<br/>{names}</p>\n"
        sections += f"<section>\n<h2>{escape(title)}</h2>\n{''.join(map(_article, exhibits))}</section>\n"
    page = out / "index.html"
    page.write_text(
        "<!DOCTYPE html>\n"
        f'<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>jaxbandits: figures</title>\n<style>{_CSS}</style>\n</head>\n<body>\n"
        f'<h1>Figures</h1>\n<p class="run">Made by <code>{escape(command)}</code>. {escape(run)} '
        "Bands and whiskers are 95% intervals: Student's t for means, Clopper-Pearson for probabilities.</p>\n"
        f"<nav>{links}</nav>\n{sections}</body>\n</html>\n",
        encoding="utf-8",
    )
    return page


def _article(shown: Exhibit) -> str:
    # The picture has its title itself, so that it can be shown alone.
    entries = [
        ("Drawn", shown.drawn),
        ("Settings", shown.settings),
        ("Runs", f"{shown.runs:,} in {_duration(shown.seconds)}, compilation included"),
        *(("Note", text) for text in shown.notes),
    ]
    caption = "".join(f"<dt>{term}</dt><dd>{escape(text)}</dd>\n" for term, text in entries)
    file, image = escape(shown.numbers.name), escape(shown.picture.name)
    # On a phone a picture is 640 pixels wide, not less, and is scrolled: its smallest texts are 9 pixels high then.
    return (
        f'<article id="{escape(shown.name)}">\n<h3>{escape(shown.name)}</h3>\n<figure>\n'
        f'<div class="scroll"><a href="{image}"><img src="{image}" alt="{escape(shown.alt)}"/></a></div>\n'
        '<p class="hint">Wider than the screen: scroll it, or tap it for its full size.</p>\n'
        f"<figcaption><dl>\n{caption}</dl></figcaption>\n</figure>\n"
        f'<p><a href="{file}" download="{file}">Numbers as CSV</a></p>\n'
        f'<details><summary>Numbers</summary><div class="scroll">{_html_table(shown.numbers)}</div></details>\n'
        "</article>\n"
    )


def _html_table(file: Path) -> str:
    table = Table.read(file)
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for _, row in table.rows)
    return f"<table><thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table>"


def _device() -> str:
    devices = jax.devices()
    kind = devices[0].device_kind if devices[0].platform != "cpu" else "CPU"
    return f"{len(devices)} × {kind}"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
