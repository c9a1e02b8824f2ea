"""The gallery: well-formed, and nothing from a network."""

import re
import xml.etree.ElementTree as ElementTree

from matplotlib.text import Text

from jaxbandits.report import plots
from jaxbandits.report.gallery import exhibit, write_gallery
from jaxbandits.report.tables import frame


def make_page(folder, ds):
    caption = {
        "finding": "fewer pulls < more & <b>“quotes”</b>",
        "drawn": "lines",
        "settings": "K = 4",
        "runs": 12_345,
        "seconds": 1.5,
        "notes": ("one", "two"),
        "alt": 'a "picture" in words',
    }
    shown = exhibit(folder, "first", plots.curve(ds), frame(ds, ["pulls_mean", "failure"]), **caption)
    other = exhibit(folder, "second", plots.curve(ds), frame(ds, ["pulls_mean", "failure"]), **caption)
    groups = [("A paper (2012): of <arms>", [shown]), ("Another (2018)", [other])]
    return write_gallery(folder, groups, "jaxbandits reproduce gape --scale quick --out here", 3.0)


def test_well_formed_with_all_that_a_reader_needs(tmp_path, grid):
    page = make_page(tmp_path, grid)
    text = page.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
    image = root.find(".//img")
    assert image.get("alt") == 'a "picture" in words'
    assert (tmp_path / image.get("src")).read_bytes().startswith(b"\x89PNG")
    links = [a.get("href") for a in root.iter("a")]
    assert links == ["#first", "#second", "first.png", "first.csv", "second.png", "second.csv"]
    assert [section.find("h2").text for section in root.iter("section")] == [
        "A paper (2012): of <arms>",
        "Another (2018)",
    ]
    assert [article.get("id") for article in root.iter("article")] == ["first", "second"]
    assert len(root.find(".//article").findall(".//tbody/tr")) == 6
    words = " ".join(root.itertext())
    for needed in ("12,345", "1.5 s", "K = 4", "jaxbandits 0", "JAX", "CPU", "--scale quick", "Note"):
        assert needed in words


def test_nothing_comes_from_a_network(tmp_path, grid):
    text = make_page(tmp_path, grid).read_text(encoding="utf-8")
    assert not re.search(r"https?:|//|<script|<link|@import|url\(", text.replace("<!DOCTYPE html>", ""))


def test_numbers_are_tidy(tmp_path, grid):
    make_page(tmp_path, grid)
    lines = (tmp_path / "first.csv").read_text().splitlines()
    assert lines[0] == "epsilon,n,pulls_mean,failure"
    assert len(lines) == 7


def test_a_title_stands_once(tmp_path, grid):
    """In the picture; the page's headings are papers and names."""
    root = ElementTree.fromstring(make_page(tmp_path, grid).read_text("utf-8").removeprefix("<!DOCTYPE html>\n"))
    assert "fewer pulls < more" not in " ".join(root.itertext())
    assert [heading.text for heading in root.iter("h3")] == ["first", "second"]


def test_pictures_link_to_their_full_size_and_stay_legible_on_a_phone(tmp_path, grid):
    """At 390 pixels texts of 10.5 points in a picture of 9 inches were 5.8 pixels high."""
    text = make_page(tmp_path, grid).read_text("utf-8")
    root = ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
    for figure in root.iter("figure"):
        link = figure.find("./div[@class='scroll']/a")
        assert link.get("href") == link.find("img").get("src")
    (least,) = re.findall(r"img {[^}]*min-width: (\d+)rem", text)
    picture = plots.phase(grid)  # its numbers and the labels of contours are the smallest texts
    smallest = min(text.get_fontsize() for text in picture.findobj(Text) if text.get_text())
    assert 16 * int(least) / picture.get_figwidth() * min(smallest, 9.5) / 72 >= 9
