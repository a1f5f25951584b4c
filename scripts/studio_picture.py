"""The picture of the studio in the README: `python scripts/studio_picture.py`, with a Chromium on the machine.

It drives the studio on the Adult data to the page of the promise, waits for the curve, and takes what a screen of
1280 × 900 shows. With a folder as an argument it takes every page there, narrow, wide and dark.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "docs/studio.png"
STEPS = ("table", "secret", "group", "promise", "check", "release")
SIZES = {"390": (390, 844, "light"), "1280": (1280, 900, "light"), "1280-dark": (1280, 900, "dark")}
WAIT = 120_000
SECONDS = float(os.environ.get("CURVE_SECONDS", "120"))
"""For the curve."""


def main(folder: Path | None) -> None:
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise SystemExit("no Chromium on this machine")
    with tempfile.TemporaryDirectory() as work:
        words = [str(Path(sys.executable).with_name("discreet")), "studio", "--demo", "--no-browser"]
        server = subprocess.Popen(words, cwd=work, stdout=subprocess.PIPE, text=True)
        try:
            address = next(line.strip() for line in server.stdout or () if line.startswith("http"))
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                walk(page, address)
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=TARGET)
                if folder is not None:
                    every_page(page, folder)
                browser.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


def settled(page: Any) -> None:
    page.wait_for_selector("main:not(:has([data-reload]))", timeout=WAIT)


def walk(page: Any, address: str) -> None:
    page.goto(address)
    settled(page)
    for step in STEPS[1:4]:
        page.click("button.primary:has-text('Continue')")
        page.wait_for_url(f"**/{step}")
        settled(page)
    for _ in range(int(SECONDS / 0.2)):
        if not page.locator("[data-curve]").count():
            return
        time.sleep(0.2)
    page.click("[data-curve] [data-stop]")  # a slow machine: with the points there are
    page.wait_for_selector("main:not(:has([data-curve]))", timeout=WAIT)
    page.goto(page.url)


def every_page(page: Any, folder: Path) -> None:
    for step in STEPS[4:]:
        page.click("button.primary:has-text('Continue')")
        page.wait_for_url(f"**/{step}")
        settled(page)
        while step == "check" and page.locator("[data-read]:not(:checked)").count():
            with page.expect_navigation():
                page.locator("[data-read]:not(:checked)").first.check()
    base = re.sub(r"/[a-z]+$", "", page.url)
    folder.mkdir(parents=True, exist_ok=True)
    for name, (width, height, scheme) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        for step in STEPS:
            page.goto(f"{base}/{step}")
            settled(page)
            time.sleep(0.2)
            page.screenshot(path=folder / f"{step}-{name}.png", full_page=width < 500)
        page.goto(re.sub(r"/p/.*", "/projects", base))
        page.screenshot(path=folder / f"projects-{name}.png")
        page.goto(re.sub(r"/p/.*", "/?new=1", base))
        page.screenshot(path=folder / f"start-{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
