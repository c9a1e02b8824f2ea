"""Crowd workers as arms: a pull asks a worker a question, and the reward is 1 for the right answer.

An arm's mean is a worker's accuracy. Top-K identification was designed to find the K most reliable workers (Zhou,
Chen, Li 2014, "Optimal PAC multiple arm identification with applications to crowdsourcing").
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jaxbandits.checks import UNIT, whole
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.io.csv_files import MISSING, Table, is_number
from jaxbandits.io.serialize import File
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.bernoulli_and_normal import Bernoulli, bernoulli

__all__ = ["rte_workers", "workers_from_csv"]

# Accuracy and number of workers: the bars of Figure 2(a) of Zhou, Chen, Li (2014), 0.006 wide, read from the figure's
# coordinates. The answers are those of Snow, O'Connor, Jurafsky, Ng (2008), "Cheap and fast, but is it good?".
_RTE = (
    (0.997, 13), (0.949, 18), (0.931, 2), (0.925, 2), (0.919, 2), (0.913, 1), (0.907, 1), (0.901, 35), (0.883, 1),
    (0.877, 2), (0.853, 1), (0.847, 28), (0.835, 1), (0.823, 2), (0.817, 2), (0.811, 1), (0.799, 16), (0.775, 1),
    (0.751, 7), (0.727, 1), (0.697, 10), (0.649, 3), (0.601, 5), (0.577, 1), (0.559, 1), (0.523, 1), (0.505, 2),
    (0.499, 3), (0.403, 1),
)  # fmt: skip

#: Accepted names of the columns of a table, in lower case; the last of each is the name in Snow et al.'s files.
_WORKER = ("worker", "worker_id", "!amt_worker_ids")
_ANSWER = ("answer", "label", "response")
_GOLD = ("truth", "gold")
_ACCURACY = ("accuracy",)
_ANSWERS = ("n_answers",)
_DATASET = ("dataset",)
#: Words that programs write for a value that is missing, in lower case.
_NO_VALUE = ("na", "n/a", "nan")


@varying
def rte_workers() -> Bernoulli:
    """Return the 164 workers of the textual entailment task RTE, by accuracy (Zhou 2014, Figure 2a; within 0.003).

    Example:
        >>> jb.rte_workers().arms
        164
    """
    means = np.repeat([accuracy for accuracy, _ in _RTE], [count for _, count in _RTE])
    return bernoulli(means, name="rte-workers")


@varying(path=File.read)
def workers_from_csv(path: str | Path, dataset: str = "", min_answers: int = 1) -> Bernoulli:
    """Return crowd workers from a CSV file (or one separated by tabs) with a header, the most accurate first.

    Two kinds of tables are read. One row per worker: a column `accuracy` in [0, 1]. One row per answer: the columns
    `worker`, `answer` (or `label`, `response`) and `gold` (or `truth`). Accuracy is then the share of answers equal to
    gold, and rows without gold are left out: empty, or NA, NaN, null or none where nobody answers so. Gold NA or NaN
    beside such answers is refused. Columns with other names are ignored.

    Args:
        path: the file.
        dataset: which rows to take, by the column `dataset`; needed when that column has several values.
        min_answers: workers with fewer answers are left out, since their accuracy is mostly chance. A table of
            accuracies then needs a column `n_answers`.

    Raises:
        UsageError: no such file, missing columns, an unusable row (its line and column are given), or fewer than two
            workers.

    Example:
        >>> import pandas as pd
        >>> pd.DataFrame({"worker": ["a", "b"], "accuracy": [0.9, 0.6]}).to_csv("workers.csv", index=False)
        >>> print(jb.workers_from_csv("workers.csv").mean)
        [0.9 0.6]
    """
    min_answers = whole("min_answers", min_answers, 1)
    table = Table.read(path)
    if table.has(_ACCURACY):
        accuracies = _stated(table, dataset, min_answers)
    elif table.has(_WORKER) and table.has(_ANSWER) and table.has(_GOLD):
        accuracies = _counted(table, dataset, min_answers)
    else:
        raise UsageError(
            f"{path}: a column accuracy is needed, or columns worker, answer and gold, got {', '.join(table.header)}"
        )
    if len(accuracies) < 2:
        raise UsageError(f"{path}: two workers or more are needed, got {len(accuracies)}")
    chosen = f",dataset={dataset}" * bool(dataset) + f",min_answers={min_answers}" * (min_answers > 1)
    return bernoulli(sorted(accuracies, reverse=True), name=f"workers:path={path}{chosen}")


def _of_dataset(table: Table, dataset: str) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of one data set: all rows where there is only one."""
    if not table.has(_DATASET):
        if dataset:
            raise UsageError(f"{table.source}: no column dataset to find {dataset!r} in")
        yield from table.rows
        return
    place = table.place(_DATASET)
    known = list(dict.fromkeys(table.cell(line, row, place) for line, row in table.rows))
    if not dataset and len(known) > 1:
        raise UsageError(f"{table.source} holds {', '.join(known)}: choose one with dataset=")
    if dataset and dataset not in known:
        raise unknown_name(f"data set in {table.source}", dataset, known)
    yield from ((line, row) for line, row in table.rows if not dataset or row[place] == dataset)


def _stated(table: Table, dataset: str, min_answers: int) -> list[float]:
    """Return the accuracies in a table with a row per worker."""
    place = table.place(_ACCURACY)
    worker = table.place(_WORKER) if table.has(_WORKER) else None
    answers = table.place(_ANSWERS) if min_answers > 1 and table.has(_ANSWERS) else None
    if min_answers > 1 and answers is None:
        raise UsageError(f"{table.source}: no column n_answers to compare with min_answers={min_answers}")
    accuracies: list[float] = []
    seen: set[str] = set()
    for line, row in _of_dataset(table, dataset):
        accuracy = table.number(line, row, place, UNIT)
        if worker is not None:
            who = table.cell(line, row, worker)
            if who in seen:
                table.refuse(line, worker, f"worker {who!r} has a row already")
            seen.add(who)
        if answers is not None and table.number(line, row, answers) < min_answers:
            continue
        accuracies.append(accuracy)
    return accuracies


def _counted(table: Table, dataset: str, min_answers: int) -> list[float]:
    """Return the accuracies computed from a table with a row per answer."""
    worker, answer, gold = (table.place(names) for names in (_WORKER, _ANSWER, _GOLD))
    right: dict[str, list[bool]] = {}
    rows = list(_of_dataset(table, dataset))
    answers = {row[answer].lower() for _, row in rows}
    unknown = {*MISSING} - answers  # `none` may be an answer to choose
    doubtful = answers & {*_NO_VALUE}
    for line, row in rows:
        who, said = table.cell(line, row, worker), table.cell(line, row, answer)
        if row[gold].lower() in doubtful:
            table.refuse(line, gold, f"{row[gold]!r} is among the answers: leave missing cells empty, or rename it")
        if row[gold].lower() not in unknown:
            right.setdefault(who, []).append(_same(said, row[gold]))
    if not right:
        raise UsageError(f"{table.source}: no row has a value in the column {table.header[gold]!r}")
    return [sum(each) / len(each) for each in right.values() if len(each) >= min_answers]


def _same(one: str, other: str) -> bool:
    """Return whether two answers are equal, comparing numbers as numbers: 1 equals 1.0."""
    return one == other or (is_number(one) and is_number(other) and float(one) == float(other))
