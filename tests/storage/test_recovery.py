"""What a killed process leaves while it replaces a folder by a newer one."""

import uuid

import pytest

from jaxbandits.storage.arrays_on_disk import recover


@pytest.mark.parametrize(
    ("left", "found"),
    [
        ({"h.zarr": "old", ".zarr": "half"}, "old"),  # killed while it wrote
        ({".old": "old", ".zarr": "new"}, "new"),  # between its two renames: the history was gone
        ({".old": "old", "h.zarr": "new"}, "new"),  # before it removed the old one
        ({".old": "old"}, "old"),
        ({".zarr": "half"}, None),  # while it wrote the first time
    ],
)
def test_the_newest_whole_folder_is_there_again(tmp_path, left, found):
    name = f".h-{uuid.uuid4().hex}"
    for ending, content in {**left, "other.zarr": "other"}.items():
        folder = tmp_path / (ending if ending.endswith(("h.zarr", "other.zarr")) else name + ending)
        folder.mkdir()
        (folder / "content").write_text(content)
    recover(tmp_path / "h.zarr")
    wanted = {"other.zarr": "other"} | ({"h.zarr": found} if found else {})
    assert {folder.name: (folder / "content").read_text() for folder in tmp_path.iterdir()} == wanted
