"""The one table printer: every row as wide as the widest, numbers to the right."""

from jaxbandits.report.text_tables import text_table

ROWS = [("name", "pulls", "note"), ("ugape-c", "1,234", ""), ("se", "5", "a theorem")]


def test_columns_stand_below_each_other():
    assert text_table(ROWS, left=(0, 2)).split("\n") == [
        "name     pulls  note",
        "ugape-c  1,234",
        "se           5  a theorem",
    ]


def test_markdown_has_a_rule_that_says_where_cells_stand():
    assert text_table(ROWS, left=(0,), markdown=True).split("\n") == [
        "| name    | pulls |      note |",
        "|---------|------:|----------:|",
        "| ugape-c | 1,234 |           |",
        "| se      |     5 | a theorem |",
    ]


def test_a_name_with_a_line_break_keeps_its_row():
    """An arm named by a quoted cell of two lines took two rows of a plan's table, and the columns were lost."""
    table = text_table([("arm", "pulls"), ("the\r\nfirst", "1,234"), ("b  c", "5")], left=(0,))
    assert table.split("\n") == ["arm        pulls", "the first  1,234", "b  c           5"]
