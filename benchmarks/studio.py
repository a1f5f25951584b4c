"""How fast the studio answers, and how large it grows, on a million rows in a real Chromium.

Run: python benchmarks/studio.py [rows]     (1,000,000 rows if nothing is named; a Chromium must be on the machine)

start        seconds from the command to the printed address (promised: under 2)
paint        first contentful paint of every page once its results are there, and of the first page (under 0.5 s)
interaction  a change until the page has followed and the project is saved (under 0.2 s; what is searched or counted
             for it goes on in the background)
memory       resident memory of the server and of its workers together, at its highest (under 1 GB)
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

ROWS = 1_000_000
STEPS = ("table", "secret", "group", "promise", "check", "release")
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
WAIT = 300_000


def table(path: Path, rows: int) -> None:
    draw = np.random.default_rng(1)
    ill = draw.random(rows) < 0.3
    age = np.clip(draw.normal(45 + 8 * ill, 16, rows), 0, 99).astype(int)
    region = draw.choice([f"region {i}" for i in range(14)], rows)
    work = draw.choice(["none", "part", "full", "own"], rows, p=[0.2, 0.2, 0.5, 0.1])
    wage = np.round(draw.lognormal(10, 0.6, rows), 0).astype(int)
    columns = {
        "id": np.arange(rows),
        "health": np.where(ill, np.where(draw.random(rows) < 0.2, "chronic", "ill"), "well"),
        "age": age,
        "region": region,
        "work": work,
        "wage": wage,
        "school": draw.choice(["low", "middle", "high"], rows),
        "sex": draw.choice(["f", "m"], rows),
        "car": draw.choice(["yes", "no"], rows),
        "pets": draw.poisson(0.6, rows),
    }
    pacsv.write_csv(pa.table(columns), path)


class Memory(threading.Thread):
    """The highest sum of resident memory of a process and its children."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.most, self.server, self.going = pid, 0, 0, True

    def run(self) -> None:
        while self.going:
            sizes = [resident(self.pid), *(resident(child) for child in children(self.pid))]
            self.server, self.most = max(self.server, sizes[0]), max(self.most, sum(sizes))
            time.sleep(0.2)


def resident(pid: int) -> int:
    try:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) // 1024 if found else 0


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def settled(page: Any) -> None:
    page.wait_for_selector("main:not(:has([data-reload]))", timeout=WAIT)


def painted(page: Any) -> float:
    """Seconds from the request to the first paint with content; it is told a moment after it happened."""
    while (found := float(page.evaluate(PAINT))) < 0:
        time.sleep(0.02)
    return found / 1000


def until_saved(page: Any, act: Any) -> float:
    """Seconds from an act to the answer that it is saved."""
    started = time.perf_counter()
    with page.expect_response(lambda answer: "/change" in answer.url or "/undo" in answer.url):
        act()
    return time.perf_counter() - started


def main(rows: int) -> None:
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        raise SystemExit("no Chromium on this machine")
    with tempfile.TemporaryDirectory() as work:
        path = Path(work) / "people.csv"
        table(path, rows)
        words = [str(Path(sys.executable).with_name("discreet")), "studio", str(path), "--no-browser"]
        started = time.perf_counter()
        server = subprocess.Popen(words, cwd=work, stdout=subprocess.PIPE, text=True)
        address = next(line.strip() for line in server.stdout or () if line.startswith("http"))
        print(f"start                          {time.perf_counter() - started:6.2f} s")
        memory = Memory(server.pid)
        memory.start()
        try:
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                measured(browser.new_page(viewport={"width": 1280, "height": 900}), address)
                browser.close()
        finally:
            memory.going = False
            server.send_signal(signal.SIGINT)
            server.wait(30)
        print(
            f"memory, server                 {memory.server:6,} MB\nmemory, with workers           {memory.most:6,} MB"
        )


def measured(page: Any, address: str) -> None:
    page.goto(address)
    print(f"paint, first page              {painted(page):6.2f} s")
    clock = time.perf_counter()
    settled(page)
    print(f"the table is read              {time.perf_counter() - clock:6.2f} s, in the background")
    times: dict[str, list[float]] = {}

    def go(step: str) -> None:
        page.click("button.primary:has-text('Continue')")
        page.wait_for_url(f"**/{step}", timeout=WAIT)
        clock = time.perf_counter()
        settled(page)
        print(f"{step + ' is there':<30} {time.perf_counter() - clock:6.2f} s, in the background")

    go("secret")
    for column, value in (("health", "secret"), ("age", "release"), ("work", "release")):
        group = page.get_by_role("radiogroup", name=f"Role of {column}", exact=True)
        act = group.locator(f"[value={value}]")
        times.setdefault("a role", []).append(until_saved(page, lambda act=act: act.check(force=True)))
        page.wait_for_load_state()
        settled(page)
    go("group")
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight", "PageUp"):
        page.locator(".handle").first.focus()
        times.setdefault("a border", []).append(until_saved(page, lambda key=key: page.keyboard.press(key)))
    times.setdefault("undo", []).append(until_saved(page, lambda: page.keyboard.press("Control+z")))
    page.wait_for_load_state()
    settled(page)
    go("promise")
    for value in ("1.2", "0.5", "0.69"):
        clock = time.perf_counter()
        page.locator("#eps").fill(value)
        times.setdefault("a slider", []).append(time.perf_counter() - clock)
    while (page.locator("#line-values").get_attribute("d") or "").count("L") < 5:
        time.sleep(0.2)
    if page.locator("[data-curve] [data-stop]").count():
        page.click("[data-curve] [data-stop]")
        page.wait_for_selector("main:not(:has([data-curve]))", timeout=WAIT)
    go("check")
    while page.locator("[data-read]:not(:checked)").count():
        box = page.locator("[data-read]:not(:checked)").first
        times.setdefault("a warning read", []).append(until_saved(page, lambda box=box: box.check()))
        page.wait_for_load_state()
        settled(page)
    go("release")
    base = re.sub(r"/release$", "", page.url)
    for step in STEPS:
        page.goto(f"{base}/{step}")
        settled(page)
        page.reload()
        print(f"{'paint, ' + step:<30} {painted(page):6.2f} s")
    for name, each in times.items():
        print(f"{'interaction, ' + name:<30} {max(each):6.2f} s at most of {len(each)}")
    page.click("text=Draw and write…")
    page.check("#answer")
    clock = time.perf_counter()
    page.click("[data-draw]")
    page.wait_for_selector("h1:has-text('Drawn once')", timeout=WAIT)
    print(f"{'the draw':<30} {time.perf_counter() - clock:6.2f} s, in the background")


if __name__ == "__main__":
    main(int(sys.argv[1].replace(",", "")) if len(sys.argv) > 1 else ROWS)
