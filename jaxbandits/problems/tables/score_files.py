"""Scores from CSV files: a column per candidate (wide form), or a row per score (long form)."""

from typing import NamedTuple

import numpy as np

from jaxbandits.checks import NOT_NEGATIVE, SUMMABLE
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.io.csv_files import MISSING, Table
from jaxbandits.io.serialize import File
from jaxbandits.problems.tables.column_checks import check_names, refuse_indices

__all__ = ["ScoreTable", "read_scores"]


class ScoreTable(NamedTuple):
    """Scores of candidates."""

    columns: list[str]  # what messages call the candidates
    scores: np.ndarray  # float64 (N, K), NaN where one is missing
    weights: np.ndarray | None = None  # float64 (N,), of the items; None for equal ones


def read_scores(file: File, *, item: str, model: str, score: str, weights: str = "") -> ScoreTable:
    """Return the scores of a file; arguments and errors as for `matrix`."""
    table = Table.read(file)
    names = [name.lower() for name in table.header]
    if item.lower() in names and model.lower() in names:
        return _long(table, item, model, score, weights)
    for option, given, usual in (("model", model, "model"), ("score", score, "")):
        if given != usual:
            raise UsageError(
                f"{file}: {option}={given} is for a file with a row per score, and columns {item!r} and {model!r}: "
                f"there are {_some(table.header)}"
            )
    if item != "item" and item.lower() not in names:
        raise unknown_name(f"{file}: column", item, table.header)
    return _wide(table, item, weights)


def _wide(table: Table, item: str, weights: str) -> ScoreTable:
    heavy = _place_of_weights(table, weights)
    places = [
        place
        for place, name in enumerate(table.header)
        if not (place == 0 and table.has_labels) and name.lower() != item.lower() and place != heavy
    ]
    names = [table.header[place] for place in places]
    check_names(table.source, names, places, "candidate", "give it one, or leave it out", "one is a candidate")
    scores = np.asarray([[_score(table, line, row, place) for place in places] for line, row in table.rows])
    refuse_indices(table.source, names, scores.T, "leave it out, or name it in item= if it names the items")
    given = None if heavy is None else np.asarray([table.number(*row, heavy, NOT_NEGATIVE) for row in table.rows])
    return ScoreTable([f"column {name!r}" for name in names], scores, given)


def _place_of_weights(table: Table, weights: str) -> int | None:
    """Return the index of the column of weights, None without one."""
    if weights and not table.has([weights.lower()]):
        raise unknown_name(f"{table.source}: column of weights", weights, table.header)
    return table.place([weights.lower()]) if weights else None


def _long(table: Table, item: str, model: str, score: str, weights: str) -> ScoreTable:
    item_place, model_place = table.place([item.lower()]), table.place([model.lower()])
    if item_place == model_place:
        raise UsageError(f"{table.source}: items and candidates are in two columns, and both are named {item!r}")
    heavy = _place_of_weights(table, weights)
    place = _place_of_scores(table, {item_place, model_place, *([] if heavy is None else [heavy])}, score)
    items, models, lines = dict[str, int](), dict[str, int](), dict[tuple[int, int], int]()
    values, given = list[float](), dict[int, float]()
    for line, row in table.rows:
        who = (
            items.setdefault(table.cell(line, row, item_place), len(items)),
            models.setdefault(table.cell(line, row, model_place), len(models)),
        )
        if who in lines:
            table.refuse(
                line, place,
                f"item {row[item_place]!r} has a score of {row[model_place]!r} already, in line {lines[who]}",
            )  # fmt: skip
        lines[who] = line
        values.append(_score(table, line, row, place))
        if heavy is not None:
            weight = table.number(line, row, heavy, NOT_NEGATIVE)
            if given.setdefault(who[0], weight) != weight:
                table.refuse(line, heavy, f"item {row[item_place]!r} had the weight {given[who[0]]:g} before")
    if len(models) < 2:
        raise UsageError(
            f"{table.source}: two candidates or more are needed, and all rows are of {next(iter(models))!r}"
        )
    if len(items) * len(models) >= 2**30:
        raise UsageError(f"{table.source}: a matrix has fewer than 2^30 cells, got {len(items)} x {len(models)}")
    scores = np.full((len(items), len(models)), np.nan)
    where = np.asarray(list(lines))
    scores[where[:, 0], where[:, 1]] = values
    heavies = None if heavy is None else np.asarray([given[number] for number in range(len(items))])
    return ScoreTable([f"{model} {name!r}" for name in models], scores, heavies)


def _place_of_scores(table: Table, taken: set[int], score: str) -> int:
    """Return the index of the column of scores in a file in long form."""
    others = [place for place in range(len(table.header)) if place not in taken]
    names = [table.header[place] for place in others]
    wanted = score or ("score" if "score" in map(str.lower, names) else "")
    if wanted:
        if wanted.lower() not in map(str.lower, names):
            raise unknown_name(f"{table.source}: column of scores", wanted, names)
        return table.place([wanted.lower()])
    if len(others) == 1:
        return others[0]
    if not others:
        raise UsageError(f"{table.source}: a column of scores is needed beside those of items and candidates")
    raise UsageError(f"{table.source}: there are {len(others)} further columns: say score= one of {_some(names)}")


def _score(table: Table, line: int, row: list[str], place: int) -> float:
    text = row[place].lower()
    if text in MISSING:
        return float("nan")
    return table.score(line, row, place, SUMMABLE)


def _some(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names[:8]) + (", …" if len(names) > 8 else "")
