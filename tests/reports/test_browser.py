"""The coverage report in a real browser: filter, sort, follow a link to evidence, no error."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcov.reports.html import write_html
from reports.small_run import INFO, small_run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_html(path, INFO, small_run())
    return path.as_uri()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith("file:") else problems.append(request.url))
    page.goto(address)
    yield page
    assert problems == []
    context.close()


def shown(page: Any) -> list[str]:
    return page.locator("#samples tbody tr:visible th").all_inner_texts()


def test_filter_by_words_and_state(page: Any) -> None:
    assert len(shown(page)) == 8
    page.get_by_label("Contains").fill("龍山")
    assert shown(page) == ["龍山寺"]
    assert page.locator("#count").inner_text() == "1 of 8 samples"
    page.get_by_label("Contains").fill("")
    page.get_by_label("Show").select_option("failed")
    assert shown(page) == ["broken", "down"]
    page.get_by_label("Show").select_option("covered")
    assert shown(page) == ["富士山"]


def test_sort_with_mouse_and_keyboard(page: Any) -> None:
    assert shown(page)[:3] == ["broken", "down", "empty"]
    head = page.locator("#samples thead th", has_text="context-recall-scorer")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert shown(page)[0] == "empty"
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert shown(page)[0] == "富士山"
    name = page.locator("#samples thead th", has_text="sample")
    name.get_by_role("button").press("Space")
    assert head.get_attribute("aria-sort") is None
    assert shown(page)[1:3] == ["broken", "down"]


def test_follow_a_link_to_evidence_and_back(page: Any) -> None:
    page.get_by_role("link", name="ulm").click()
    assert page.url.endswith("#s0")
    claim = page.locator("#s0c2")
    assert "together" in claim.inner_text()
    claim.get_by_role("link", name="chunk 2").click()
    target = page.locator("mark:target")
    assert target.inner_text() == "in Princeton"
    assert target.evaluate("e => { const r = e.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight }")
    page.locator("#s0k2 sup a").click()
    assert page.url.endswith("#s0c2")


def test_hostile_text_runs_nothing(page: Any) -> None:
    assert page.title() == "Coverage of retrieval"
    assert page.locator("img").count() == 0


def test_landmarks_and_names(page: Any) -> None:
    assert page.get_by_role("main").count() == 1
    assert page.get_by_role("banner").count() == 1
    assert page.get_by_role("search", name="Filter samples").count() == 1
    assert page.get_by_role("img", name="Recall@k").count() == 1
    assert page.get_by_role("columnheader").count() >= 7
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    unnamed = page.evaluate(
        "[...document.querySelectorAll('a,button,input,select,svg[role=img]')].filter(e => !(e.textContent.trim() || "
        "e.labels?.length || e.getAttribute('aria-label'))).length"
    )
    assert unnamed == 0


CONTRAST = """() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0) return c; }
    return [255, 255, 255]; };
  const low = [];
  for (const e of document.querySelectorAll("body *:not(script):not(svg *)")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(e.className + ": " + e.textContent.slice(0, 40));
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_light_and_dark_wide_and_narrow(scheme: Any, width: int, browser: Any, address: str, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(CONTRAST) == []
    red, green, blue = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (red + green + blue > 600) == (scheme == "light")
    page.close()


def test_without_scripts_all_is_there(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert len(shown(page)) == 8
    assert not page.locator(".tools").is_visible()
    page.get_by_role("link", name="ulm").click()
    assert page.url.endswith("#s0")
    context.close()


def test_text_of_other_scripts_is_drawn_for_its_language(page: Any) -> None:
    fonts = page.evaluate(
        "[...document.querySelectorAll('.text')].map(e => [e.lang, getComputedStyle(e).fontFamily])"
        ".filter(([lang]) => lang)"
    )
    assert {lang for lang, _ in fonts} == {"zh-Hant", "ja"}
    assert all(("CJK TC" if lang == "zh-Hant" else "CJK JP") in font for lang, font in fonts)
    direction = page.locator("#s3k1 .text").evaluate("e => getComputedStyle(e).direction")
    assert direction == "rtl"
