"""A table's cells as LaTeX, Markdown, HTML or CSV, with all text escaped."""

import html
import io
import itertools
import re
from collections.abc import Callable
from csv import writer
from typing import NamedTuple

from jaxbandits.report.rounded_cells import Cell
from jaxbandits.report.text_tables import text_table

__all__ = ["FORMATS", "TextTable"]


class TextTable(NamedTuple):
    """What is laid out."""

    labels: list[str]  # headings of the columns with labels
    columns: list[list[str]]  # of those with cells: the headings of each, from the widest to its own
    rows: list[tuple[list[str], list[Cell]]]
    note: str  # what the cells are, in sentences

    @property
    def heading(self) -> list[str]:
        """All headings on one line."""
        return [*self.labels, *(", ".join(headings) for headings in self.columns)]

    def spans(self) -> list[list[tuple[str, int]]]:
        """Return the lines of headings: each heading once, with the number of neighbours that share it.

        On the last line each has one column.
        """
        lines = []
        for depth in range(1, len(self.columns[0]) + 1):
            alike = itertools.groupby(self.columns, key=lambda headings: headings[:depth])
            lines.append([(headings[-1], len(list(group))) for headings, group in alike])
        return lines


#: Brackets and stars after the end of a row are options of it.
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "[": "{[}", "]": "{]}", "*": "{*}", "−": "$-$", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$",
    "∞": r"$\infty$", "×": r"$\times$", "–": "--", "…": r"\ldots{}", "·": r"$\cdot$", "²": "$^2$",
    "α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$", "δ": r"$\delta$", "ε": r"$\varepsilon$", "ζ": r"$\zeta$",
    "η": r"$\eta$", "θ": r"$\theta$", "ι": r"$\iota$", "κ": r"$\kappa$", "λ": r"$\lambda$", "μ": r"$\mu$",
    "µ": r"$\mu$", "ν": r"$\nu$", "ξ": r"$\xi$", "π": r"$\pi$", "ρ": r"$\rho$", "ς": r"$\varsigma$",
    "σ": r"$\sigma$", "τ": r"$\tau$", "υ": r"$\upsilon$", "φ": r"$\varphi$", "χ": r"$\chi$", "ψ": r"$\psi$",
    "ω": r"$\omega$", "Γ": r"$\Gamma$", "Δ": r"$\Delta$", "Θ": r"$\Theta$", "Λ": r"$\Lambda$", "Ξ": r"$\Xi$",
    "Π": r"$\Pi$", "Σ": r"$\Sigma$", "Φ": r"$\Phi$", "Ψ": r"$\Psi$", "Ω": r"$\Omega$",
}  # fmt: skip


def _in_latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in _on_one_line(text))


def _in_markdown(text: str) -> str:
    return re.sub(r"([\\|*_`<>\[\]~])", r"\\\1", _on_one_line(text))


def _in_html(text: str) -> str:
    return html.escape(_on_one_line(text))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


#: More rows than this do not fit on a page.
_ROWS_OF_A_PAGE = 40


def latex(table: TextTable) -> str:
    """Return a `tabular` of the package booktabs, below comments that say what its cells are.

    More rows than a page has make a `longtable`, which repeats its headings on each page.
    """

    def number(text: str) -> str:
        return text.replace(",", "{,}").replace("∞", r"\infty").replace("−", "-").replace("–", r"\mbox{--}")

    def cell(cell: Cell) -> str:
        text = number(cell.centre)
        if cell.half_width:
            text += rf" \pm {number(cell.half_width)}"
        if cell.low:
            text += rf"\ [{number(cell.low)},\, {number(cell.high)}]"
        if cell.exponent:
            text = text if not cell.half_width else f"({text})"
            text += rf" \times 10^{{{cell.exponent}}}"
        text = rf"$\geq {text}$" if cell.at_least else f"${text}$"
        return rf"{{\boldmath {text}}}" if cell.bold else text

    def spanning(line: list[tuple[str, int]]) -> list[str]:
        cells = [rf"\multicolumn{{{count}}}{{c}}{{{_in_latex(text)}}}" for text, count in line]
        ends = itertools.accumulate((count for _, count in line), initial=len(table.labels))
        rules = [rf"\cmidrule(lr){{{before + 1}-{end}}}" for before, end in itertools.pairwise(ends)]
        return [rf"{' & '.join([*[''] * len(table.labels), *cells])} \\", "".join(rules)]

    *above, last = table.spans()
    long = len(table.rows) > _ROWS_OF_A_PAGE
    kind, packages = ("longtable", "booktabs, longtable") if long else ("tabular", "booktabs")
    comments = (*table.note.split("\n"), rf"In the preamble: \usepackage{{{packages}}}")
    lines = [f"% {_on_one_line(line)}" for line in comments]
    lines += [rf"\begin{{{kind}}}{{{'l' * len(table.labels)}{'r' * len(last)}}}", r"\toprule"]
    lines += [text for line in above for text in spanning(line)]
    lines += [rf"{' & '.join(map(_in_latex, [*table.labels, *(text for text, _ in last)]))} \\", r"\midrule"]
    lines += [r"\endhead"] if long else []
    lines += [rf"{' & '.join([*map(_in_latex, names), *map(cell, cells)])} \\" for names, cells in table.rows]
    return "\n".join([*lines, r"\bottomrule", rf"\end{{{kind}}}"])


def plain(cell: Cell) -> str:
    """Return what a cell shows as a text with a few special characters."""
    text = f"≥ {cell.centre}" if cell.at_least else cell.centre
    if cell.half_width:
        text += f" ± {cell.half_width}"
    if cell.low:
        text += f" [{cell.low}, {cell.high}]"
    if cell.exponent:
        text = f"({text})×10^{cell.exponent}" if cell.half_width else f"{text}×10^{cell.exponent}"
    return text


def markdown(table: TextTable) -> str:
    """Return a table with bars, and what its cells are below."""

    def cell(cell: Cell) -> str:
        return f"**{plain(cell)}**" if cell.bold else plain(cell)

    rows = [[*map(_in_markdown, names), *map(cell, cells)] for names, cells in table.rows]
    text = text_table([[*map(_in_markdown, table.heading)], *rows], left=range(len(table.labels)), markdown=True)
    return f"{text}\n\n{_on_one_line(table.note)}"


def as_html(table: TextTable) -> str:
    """Return a `table` element with a caption that says what its cells are."""

    def cell(cell: Cell) -> str:
        text = re.sub(r"\^(-?\d+)", r"<sup>\1</sup>", html.escape(plain(cell)))
        return f"<td><b>{text}</b></td>" if cell.bold else f"<td>{text}</td>"

    def over(text: str, count: int) -> str:
        wide = f'"colgroup" colspan="{count}"' if count > 1 else '"col"'
        return f"<th scope={wide}>{_in_html(text).replace(' = ', '&nbsp;=&nbsp;')}</th>"

    *above, last = table.spans()
    blank, own = "<td></td>" * len(table.labels), "".join(over(text, 1) for text in table.labels)
    spans = [(blank, line) for line in above] + [(own, last)]
    heading = "".join(f"<tr>{first}{''.join(over(*one) for one in line)}</tr>" for first, line in spans)
    rows = [
        "".join(f'<th scope="row">{_in_html(name)}</th>' for name in names) + "".join(map(cell, cells))
        for names, cells in table.rows
    ]
    caption = _in_html(table.note)
    lines = ["<table>", f"<caption>{caption}</caption>", f"<thead>{heading}</thead>", "<tbody>"]
    return "\n".join([*lines, *(f"<tr>{row}</tr>" for row in rows), "</tbody>", "</table>"])


def as_csv(table: TextTable) -> str:
    """Return lines of CSV; numbers have no commas, and a star follows what other formats have in bold."""
    lines = io.StringIO()
    rows = writer(lines, lineterminator="\n")
    rows.writerow(table.heading)
    for names, cells in table.rows:
        bare = [Cell._make(_bare(part) for part in cell) for cell in cells]
        rows.writerow([*names, *(plain(cell) + " *" * cell.bold for cell in bare)])
    return lines.getvalue()


def _bare(part: object) -> object:
    return part.replace(",", "") if isinstance(part, str) else part


#: Name of a format to the function that makes it.
FORMATS: dict[str, Callable[[TextTable], str]] = {
    "latex": latex, "markdown": markdown, "html": as_html, "csv": as_csv,
}  # fmt: skip
