"""Draw the pictures of the live page: a study in a laboratory, served and photographed, into docs/images/serve.

.venv/bin/python docs/live_pictures.py
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from satisfice import open_search

OUT = Path(__file__).parent / "images" / "serve"
SPACE = {"temperature": (20, 90, 5), "hours": (1, 24), "solvent": ["water", "ethanol"]}
TOKEN = "only-for-the-pictures"  # noqa: S105
SHOTS = {  # file: (address, width, height, scheme)
    "study": ("/studies/crystals", 1180, 1130, "light"),
    "phone": ("/studies/crystals#bench", 390, 844, "dark"),
}


def crystals(setting, rng):
    """A yield in percent, with noise; at best about 84."""
    loss = 6 * ((setting["temperature"] - 62) / 16) ** 2 + 4 * ((setting["hours"] - 14) / 7) ** 2
    return round(84 - loss - 4 * (setting["solvent"] == "water") + float(rng.normal(0, 1.2)), 1)


def fill(storage):
    """Fill the storage: six earlier rows, three days of four experiments, and a fourth that has just begun."""
    rng = np.random.default_rng(3)
    rows = [(25, 3, "water"), (40, 20, "ethanol"), (80, 5, "water"), (60, 23, "water"), (35, 8, "ethanol")]
    earlier = [dict(zip(SPACE, row, strict=True)) for row in rows]
    earlier = [{**row, "value": crystals(row, rng)} for row in earlier]
    lab = open_search("crystals", storage, SPACE, 80, seed=1, history=earlier)
    for day in range(3):
        for each in lab.ask(4, by=("Ada", "Bob")[day % 2]):
            if each.number == 7:
                lab.fail(each, "the vessel leaked")
            else:
                lab.tell(each, crystals(each, rng))
    lab.ask(3, by="Ada")


def main():
    """Draw them all."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        fill(Path(folder) / "lab.db")
        command = [sys.executable, "-m", "satisfice", "serve", "--storage", "lab.db", "--port", "0"]
        environment = {**os.environ, "SATISFICE_TOKEN": TOKEN}
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment)  # noqa: S603
        try:
            server.stdout.readline()
            address = server.stdout.readline().split()[1]
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name, (path, width, height, scheme) in SHOTS.items():
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(address)
                page.wait_for_url(address.partition("?")[0])
                page.goto(address.partition("/?")[0] + path)
                page.wait_for_selector(".state.on")
                if "#" in path:
                    page.locator(path[path.index("#") :]).scroll_into_view_if_needed()
                page.screenshot(path=OUT / f"{name}.png")
                Image.open(OUT / f"{name}.png").convert("RGB").quantize(64).save(OUT / f"{name}.png", optimize=True)
            browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
