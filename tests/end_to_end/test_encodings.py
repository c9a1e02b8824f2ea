"""Output that is not UTF-8: Windows redirects to cp1252 or cp437, and a command must not fail at its last line."""

import ast
import io
import sys
from pathlib import Path

import pytest

import jaxbandits as jb
from jaxbandits.cli import main, result_text
from jaxbandits.cli.encodings import printable

PACKAGE = Path(jb.__file__).parent
ENCODINGS = ["ascii", "cp437", "cp1252", "utf-8"]
SIMULATE = ["simulate", "uniform", "--problem=bernoulli:0.7,0.5", "--set=budget=9"]
ALL = "∞ − – ≥ ≤ … × · ε δ Δ é ⁴ → 日 \udcff"


@pytest.fixture
def into(monkeypatch):
    """What makes stdout and stderr bytes with an encoding; then what they have been told."""

    def begin(encoding):
        streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2)]
        for name, stream in zip(("stdout", "stderr"), streams, strict=True):
            monkeypatch.setattr(
                sys, name, stream
            )  # here and not in a fixture, since pytest replaces them before a test

        def told():
            for stream in streams:
                stream.flush()
            return [stream.buffer.getvalue().decode(encoding) for stream in streams]

        return told

    return begin


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_all_text_can_be_printed(into, encoding):
    told = into(encoding)
    with printable():
        sys.stdout.write(ALL)
        sys.stderr.write(ALL)
    assert sys.stdout.errors == "strict"
    assert all(text.split()[-1] == "?" for text in told())
    if encoding == "ascii":
        assert told()[0] == "inf - - >= <= ... x * epsilon delta Delta e 4 -> ? ?"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_commands_end_well(into, encoding):
    for arguments in (["list"], ["--help"], ["compare", "--help"], SIMULATE):
        told = into(encoding)
        assert main(arguments) == 0
        out, errors = told()
        assert len(out) > 100
        assert not errors


@pytest.mark.parametrize(("encoding", "expected"), [("ascii", "inf >= epsilon\n"), ("cp437", "∞ ≥ ε\n")])
def test_infinity_and_signs_are_written_in_ascii(into, encoding, expected, monkeypatch):
    """In what comes after all runs, where it cost most."""
    monkeypatch.setattr(result_text, "statistics", lambda _: "∞ ≥ ε")
    told = into(encoding)
    assert main(SIMULATE) == 0
    assert told()[0].endswith(expected)


def test_errors_about_any_text_are_one_line(into):
    told = into("cp1252")
    assert main(["simulate", "∞", "--problem", "bernoulli:0.7,0.5"]) == 2
    assert told()[1].startswith("jaxbandits: unknown algorithm 'inf'")


def unspecified(source):
    """Files that are opened as text without saying in which encoding."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        texts = {
            word.value for word in ast.walk(node) if isinstance(word, ast.Constant) and isinstance(word.value, str)
        }
        is_binary = name == "open" and any("b" in text and set(text) <= set("rwaxb+") for text in texts)
        of_os = ast.unparse(node.func).startswith(("os.", "archive."))
        if name in ("open", "read_text", "write_text", "to_csv", "fdopen") and not is_binary and not of_os:
            found += [] if any(word.arg == "encoding" for word in node.keywords) else [ast.unparse(node)]
    return found


def test_files_are_utf_8():
    found = {path.name: opened for path in PACKAGE.rglob("*.py") if (opened := unspecified(path.read_text("utf-8")))}
    assert not found
    assert unspecified("file.read_text(); open('a'); open('a', 'rb'); a.write_text('b', encoding='utf-8')") == [
        "file.read_text()",
        "open('a')",
    ]
