"""Rows of text in columns, plain for a terminal or as a table of Markdown."""

from collections.abc import Collection, Sequence

__all__ = ["text_table"]


def text_table(rows: Sequence[Sequence[str]], left: Collection[int] = (), markdown: bool = False) -> str:
    """Arrange rows in columns, a line each.

    Args:
        rows: cells, the same number in each row, the first row being the heading. A name with a line break, such as of
            an arm, is shown on one line.
        left: columns whose cells are aligned to the left, counted from 0; all others are aligned to the right.
        markdown: with bars between the columns, and a rule below the heading.
    """
    rows = [[" ".join(text.split()) if len(text.splitlines()) > 1 else text for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        cells = [
            text.ljust(width) if place in left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"| {' | '.join(cells)} |" if markdown else "  ".join(cells).rstrip()

    lines = [line(row) for row in rows]
    if markdown:
        rules = ("-" * (width + 2) if place in left else "-" * (width + 1) + ":" for place, width in enumerate(widths))
        lines.insert(1, f"|{'|'.join(rules)}|")
    return "\n".join(lines)
