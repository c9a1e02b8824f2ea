"""Runs of one store are made under the same flags of XLA, as far as these may change bits."""

import json
from pathlib import Path

import pytest

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.storage.store_files import blocks_folder
from jaxbandits.xla_flags import flags_now

FAST = "--xla_cpu_enable_fast_math=true"


@pytest.fixture(autouse=True)
def _setting(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)


def sweep(seeds=9, **options):
    return jb.sweep(jb.Uniform(budget=jb.axis([9, 12])), jb.bernoulli([0.7, 0.5]), seeds, **options)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("", "none"),
        (FAST, "xla_cpu_enable_fast_math=true"),
        ("--xla_b --xla_a=2  --xla_a=1", "xla_a=1 xla_b=true"),
        ("--xla_force_host_platform_device_count=8 --xla_dump_to=/tmp/x --xla_dump_hlo_as_text", "none"),
        ("--xla_disable_hlo_passes='a,b'", "xla_disable_hlo_passes=a,b"),
        ("--xla_a='1", "xla_a='1"),
    ],
)
def test_flags_that_may_change_bits(given, found, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", given)
    assert flags_now() == found


def test_flags_in_a_file(monkeypatch):
    Path("flags").write_text(f"{FAST}\n--xla_dump_to=a")
    monkeypatch.setenv("XLA_FLAGS", "flags")
    assert flags_now() == "xla_cpu_enable_fast_math=true"


@pytest.mark.parametrize("name", ["grid.zarr", "grid.nc"])
def test_a_store_is_resumed_under_its_flags(name, monkeypatch, capsys):
    monkeypatch.setenv("XLA_FLAGS", FAST)
    sweep(store=name)
    assert main(["status", name]) == 0
    assert "xla_cpu_enable_fast_math=true" in capsys.readouterr().out
    monkeypatch.setenv("XLA_FLAGS", f"{FAST} --xla_force_host_platform_device_count=2")
    assert sweep(seeds=12, store=name).attrs["xla_flags"] == "xla_cpu_enable_fast_math=true"
    monkeypatch.setenv("XLA_FLAGS", "--xla_b=1")
    with pytest.raises(jb.UsageError, match=f"{name} was made with other XLA flags, .* xla_b=1 here; set") as error:
        sweep(seeds=20, store=name)
    assert "xla_cpu_enable_fast_math=true there" in str(error.value)
    assert "\n" not in str(error.value)


def test_stores_and_datasets_are_merged_under_the_same_flags(monkeypatch, capsys):
    one = sweep(store="a.zarr")
    monkeypatch.setenv("XLA_FLAGS", FAST)
    other = sweep(first_seed=9, store="b.zarr")
    said = "other XLA flags, which may change bits: none there and xla_cpu_enable_fast_math=true here"
    for parts in ([one, other], ["a.zarr", "b.zarr"]):
        with pytest.raises(jb.UsageError, match=said):
            jb.merge(parts)
    assert main(["merge", "a.zarr", "b.zarr", "--out", "c.zarr"]) == 2
    assert said in capsys.readouterr().err
    # A Dataset from before flags were recorded is taken as it is.
    assert jb.merge([one.assign_attrs({}).drop_attrs().assign_attrs(spec=one.attrs["spec"]), other]).sizes["seed"] == 18


def test_a_store_without_a_record_is_resumed(monkeypatch):
    sweep(store="a.zarr")
    file = blocks_folder(Path("a.zarr")) / "sweep.json"
    data = json.loads(file.read_bytes())
    assert data["attrs"].pop("xla_flags") == "none"
    file.write_text(json.dumps(data))
    monkeypatch.setenv("XLA_FLAGS", FAST)
    assert sweep(seeds=12, store="a.zarr").sizes["seed"] == 12
