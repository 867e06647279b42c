import base64
import io
import re
import tomllib
from dataclasses import replace

import numpy as np
import PIL.Image

from deshred.elements import Constraints, Join, ShredSet
from deshred.export.encoding import hash_pixels
from deshred.export.report import Overview, render_report, write_toml
from deshred.imaging.composition import compose
from tests.export.materials import MADE, make_readings, make_reconstruction, make_shred
from tests.export.reports import Reader


def render(reconstruction=None, **changes):
    html = render_report(reconstruction or make_reconstruction(), **({"provenance": {"seed": "0"}} | changes))
    return Reader(html)


def test_the_summary_comes_before_everything_else():
    reconstruction = make_reconstruction()
    text = render(reconstruction, title="My pile").text
    assert text.split("My pile")[2].strip().startswith(reconstruction.summary())


def test_the_report_is_one_file_that_asks_the_network_for_nothing():
    html = render_report(make_reconstruction(), provenance={})
    page = Reader(html)
    assert not page.find("script")
    assert not page.find("link")
    assert all(attrs["src"].startswith("data:image/") for attrs in page.find("img"))
    assert "url(" not in html
    assert "@import" not in html
    assert not re.search(r"https?://", html)


def test_every_join_is_marked_where_its_shreds_meet():
    page = render()
    marks = page.find("a", "join")
    assert [mark["style"] for mark in marks] == ["left:33.33%", "left:66.67%", "left:50.00%"]
    assert [mark["aria-label"].split(":")[0] for mark in marks] == [
        "Join 1, sure",
        "Join 2, open",
        "Join 3, likely",
    ]


def test_a_verdict_is_told_by_color_shape_and_word():
    page = render()
    for verdict, sign in (("sure", "●"), ("likely", "◆"), ("open", "▲")):
        assert page.find("a", verdict)
        assert f"{sign} {verdict}" in page.text
    assert "● 1 sure" in page.text
    assert "score: 1.50" in page.text
    assert "probability: 40 %" in page.text
    assert "offset: +3 px" in page.text
    assert "price: 0.25 more without it" in page.text


def test_numbers_at_the_ends_of_their_scale_are_told_in_words():
    reconstruction = make_reconstruction(probabilities=(0.0001, 0.999999, 0.9))
    for join in reconstruction.arrangement.joins:
        object.__setattr__(join, "price", 0.0)
    text = render(reconstruction).text
    assert "probability: under 1 %" in text
    assert "probability: over 99.99 %" in text
    assert "price: as cheap without it" in text


def test_a_join_that_no_order_can_do_without_has_no_price():
    reconstruction = make_reconstruction()
    for join in reconstruction.arrangement.joins:
        object.__setattr__(join, "price", float("inf"))
    text = render(reconstruction).text
    assert "inf" not in text.replace("information", "")
    assert "more without it" not in text


def test_only_open_joins_get_a_closeup_and_every_link_has_its_target():
    page = render()
    assert [card["id"] for card in page.find("li", "card")] == ["join-2"]
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for attrs in page.find("a")} <= set(ids)


def test_many_open_joins_get_the_worst_closeups_and_all_keep_their_links():
    names = tuple(f"s{i:03d}" for i in range(80))
    chances = tuple(0.1 + 0.005 * i for i in range(79))
    page = render(make_reconstruction((names,), chances, ()))
    cards = page.find("li", "card")
    assert [card["id"] for card in cards] == [f"join-{i}" for i in range(1, 61)]
    ids = {attrs["id"] for _, attrs in page.elements if "id" in attrs}
    assert {attrs["href"][1:] for attrs in page.find("a")} <= ids
    assert "The 19 least doubtful are only in the table" in page.text


def test_without_open_joins_the_report_says_so():
    assert (
        "None: every join is sure or likely."
        in render(make_reconstruction(probabilities=(1.0, 0.99, 0.8))).text
    )


def test_a_join_without_probability_is_open_and_shows_a_dash():
    page = render(make_reconstruction(probabilities=(None, 0.999, 0.999)))
    assert [card["id"] for card in page.find("li", "card")] == ["join-1"]
    assert "–" in page.text


def test_blank_shreds_are_shown_and_missing_parts_leave_no_empty_heading():
    with_blanks = render(overviews=[Overview("sheet-1", np.zeros((50, 40, 3), np.uint8))])
    assert [i["alt"] for i in with_blanks.find("img") if "Blank" in i["alt"]] == [
        "Blank shred x",
        "Blank shred y",
    ]
    assert "sheet-1" in with_blanks.text
    without = render(make_reconstruction(blank=()))
    assert "Blank shreds" not in without.text
    assert "Scanned sheets" not in without.text


def test_names_that_look_like_html_stay_text():
    evil = '<script>alert("x")</script>&'
    page = render(
        make_reconstruction(((evil, "b"),), (0.3,), (evil + "2",)),
        title=evil,
        provenance={evil: evil},
        overviews=[Overview(evil, np.zeros((9, 9, 3), np.uint8))],
    )
    assert not page.find("script")
    assert page.text.count(evil) >= 6


def test_a_page_is_embedded_as_a_picture_of_itself():
    reconstruction = make_reconstruction()
    page = render(reconstruction)
    source = next(attrs["src"] for attrs in page.find("img") if attrs["alt"].startswith("Page 1"))
    picture = np.asarray(
        PIL.Image.open(io.BytesIO(base64.b64decode(source.split(",")[1]))).convert("L"), float
    )
    gray = reconstruction.pages[0].image.mean(axis=2)
    assert picture.shape == gray.shape
    assert np.corrcoef(picture.ravel(), gray.ravel())[0, 1] > 0.9


def test_times_and_provenance_are_listed_and_long_lists_are_folded():
    page = render(provenance={"model": "abc", "solver": "exact"})
    for words in ("score 3.00", "arrange 1.00", "4.0 in all", "model abc", "solver exact"):
        assert words in page.text
    folded = render(provenance={f"file {i}": "f00" for i in range(50)})
    assert "Show 50 lines" in folded.text


def test_the_proof_is_told_apart_from_the_best_found_so_far():
    assert "It is proven" in render().text
    reconstruction = make_reconstruction()
    object.__setattr__(reconstruction.arrangement, "bound", 5.0)
    assert "no order is cheaper than 5" in render(reconstruction).text


def test_every_page_end_has_its_row_also_after_a_single_shred():
    pages = (("a", "b"), ("c",), ("d", "e"))
    text = render(make_reconstruction(pages, (0.9, 0.9))).text
    assert text.count("page ends here") == 2


def test_a_page_taller_than_a_picture_can_be_is_shrunk():
    shreds = ShredSet([make_shred(name, 0, height=17_000) for name in "ab"])
    reconstruction = make_reconstruction((("a", "b"),), (0.9,))
    object.__setattr__(reconstruction, "pages", tuple(compose(shreds, reconstruction.arrangement)))
    assert render(reconstruction).find("figure", "page")


def test_a_blank_shred_wider_than_a_picture_can_be_is_shrunk():
    reconstruction = make_reconstruction()
    blank = ShredSet([make_shred("wide", 0, width=65_535, height=2)])
    reconstruction = replace(reconstruction, pile=replace(reconstruction.pile, blank=blank))
    (picture,) = [image for image in render(reconstruction).find("img") if "Blank" in image["alt"]]
    assert int(picture["width"]) < 16_384


def test_what_is_doubtful_on_a_sheet_stands_below_its_picture():
    image = np.full((40, 30, 3), 255, np.uint8)
    page = render(overviews=[Overview("Monday", image, ["shred 03 may be <several> shreds"])])
    assert "shred 03 may be <several> shreds" in page.text


def test_a_page_full_of_doubts_stays_readable():
    names = tuple(f"s{i:03d}" for i in range(12))
    assert render(make_reconstruction((names,), (0.5,) * 11, ())).find("div", "crowded")
    assert not render().find("div", "crowded")


def test_each_card_offers_the_lines_that_decide_its_join() -> None:
    text = render().text
    assert 'required = [["b", "c"]]' in text
    assert 'forbidden = [["b", "c"]]' in text
    odd = Join('a"\\\x01\u202e', "ü\n🙂", 0.0, 0)
    assert tomllib.loads(write_toml("required", odd)) == {"required": [[odd.left, odd.right]]}


def test_who_decided_a_join_is_told() -> None:
    known = Constraints(required=frozenset({("b", "c")}))
    text = render(replace(make_reconstruction(), constraints=known)).text
    assert "b c ▲ open a person" in text
    assert "a b ● sure the machine" in text


def test_nothing_can_be_fetched_or_run_even_if_something_slipped_in() -> None:
    (policy,) = [m["content"] for m in render().find("meta") if "Content-Security" in m.get("http-equiv", "")]
    assert "default-src 'none'" in policy
    assert "script" not in policy


def test_the_date_the_command_and_the_pixels_are_told() -> None:
    reconstruction = make_reconstruction()
    text = render(reconstruction, made=MADE, command="deshred reconstruct 'a b' -o out").text
    assert "2026-03-02 09:30 UTC, deshred reconstruct 'a b' -o out" in text
    for page in reconstruction.pages:
        assert hash_pixels(page) in text


def test_words_lie_over_the_picture_where_they_were_read() -> None:
    page = render(readings=make_readings(("Invoice 1850", "Dear Sir")))
    spans = page.find("tspan")
    assert [(span["x"], span["textlength"]) for span in spans[:2]] == [("10", "70"), ("90", "40")]
    assert "Invoice 1850" in page.text
    assert not render().find("svg")
