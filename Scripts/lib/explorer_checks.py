"""Visits the explorer's pages with a browser. Started by Scripts/check explorer."""

import argparse
import http.client
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse

import axe_core_python
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()

arguments = argparse.ArgumentParser()
for name in ["bin", "browser", "driver", "place", "corpus", "shots"]:
    arguments.add_argument("--" + name, required=True)
arguments.add_argument("--load", type=float, default=10)
arguments.add_argument("--figures", action="store_true")
options = arguments.parse_args()
place = pathlib.Path(options.place)
shots = pathlib.Path(options.shots)
shots.mkdir(parents=True, exist_ok=True)

failures = []
checks = 0


def check(condition, what):
    """Counts a check, and tells at once of one that fails."""
    global checks
    checks += 1
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}", file=sys.stderr, flush=True)


def say(text):
    print(text, file=sys.stderr, flush=True)


def trials(*words):
    subprocess.run([f"{options.bin}/explorer-trials", *map(str, words)], check=True)


class Explorer:
    """An explorer over a store, for a with statement."""

    def __init__(self, store, *words):
        self.process = subprocess.Popen(
            [f"{options.bin}/coredata-explorer", str(store), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(self.process.stderr.read())
        parts = urllib.parse.urlsplit(self.url)
        self.base = f"http://{parts.netloc}"
        self.host, self.port = parts.hostname, parts.port
        self.token = urllib.parse.parse_qs(parts.query)["token"][0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def memory(self, field="VmHWM"):
        """Most memory that the process has had, in MB."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
        return 0

    def cookie(self):
        connection = http.client.HTTPConnection(self.host, self.port)
        connection.request("GET", f"/?token={self.token}")
        answer = connection.getresponse()
        answer.read()
        return answer.getheader("Set-Cookie").split(";")[0]

    def request(self, path, method="GET", headers=None, body=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")


class Browser:
    def __init__(self, width=1280, height=900, dark=False, script=True):
        settings = Options()
        settings.binary_location = options.browser
        for word in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]:
            settings.add_argument(word)
        settings.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        if not script:
            settings.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        self.driver = webdriver.Chrome(options=settings, service=Service(options.driver))
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        )
        if dark:
            self.driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def enter(self, explorer):
        self.driver.get(explorer.url)
        WebDriverWait(self.driver, 10).until(lambda driver: driver.title.startswith("Entities"))
        self.base = explorer.base

    def open(self, path):
        self.driver.get(self.base + path)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, condition, what, seconds=10):
        try:
            WebDriverWait(self.driver, seconds).until(lambda _: condition())
            check(True, what)
        except Exception as error:
            check(False, f"{what} ({type(error).__name__})")

    def shot(self, name):
        self.driver.save_screenshot(str(shots / f"{name}.png"))

    def complaints(self):
        """What the browser has to say about the pages, its policies among it. A status is no complaint."""
        return [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] == "SEVERE" and "the server responded with a status" not in entry["message"]
        ]

    def examine(self, name):
        """Runs axe-core on the page."""
        # The page's content security policy forbids foreign scripts; it does not apply to the driver's own channel.
        self.driver.execute_script(AXE)
        result = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run(document, {resultTypes: ['violations']}).then(done, (error) => done({violations: [{id: String(error), impact: 'critical', nodes: []}]}));"
        )
        for finding in result["violations"]:
            nodes = "; ".join(node["html"][:160] for node in finding["nodes"][:3])
            check(False, f"{name}: axe finds {finding['id']} ({finding['impact']}): {nodes}")
        check(True, name)

    def walk(self, name):
        """Whether the tab key reaches everything that can be used, and shows where it is."""
        count = self.driver.execute_script(
            "const all = document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex=\"0\"]');"
            "const seen = [...all].filter((e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden'"
            " && (e.tagName === 'SUMMARY' || !e.closest('details:not([open])')));"
            "seen.forEach((e, i) => { e.dataset.stop = i; }); document.activeElement?.blur(); return seen.length;"
        )
        reached, unseen = set(), set()
        for _ in range(count + 10):
            webdriver.ActionChains(self.driver).send_keys(Keys.TAB).perform()
            stop, visible = self.driver.execute_script(
                "const e = document.activeElement; const style = getComputedStyle(e);"
                "return [e.dataset.stop ?? null, style.outlineStyle !== 'none' || e.matches('select, input, textarea')];"
            )
            if stop is not None:
                reached.add(int(stop))
                if not visible:
                    unseen.add(int(stop))
            if len(reached) == count:
                break
        check(len(reached) == count, f"{name}: the tab key misses {sorted(set(range(count)) - reached)[:5]} of {count}")
        check(not unseen, f"{name}: the focus cannot be seen at {sorted(unseen)[:5]}")

    def narrow(self, name):
        """Whether the page keeps to the width of the window; what is wider scrolls by itself."""
        wide = self.driver.execute_script("return document.documentElement.scrollWidth > document.documentElement.clientWidth")
        check(not wide, f"{name}: wider than the window")


def pages(explorer):
    """Addresses of every kind of page, for the entity with most rows."""
    cookie = {"Cookie": explorer.cookie()}
    import re

    text = explorer.request("/", headers=cookie)[1]
    names = re.findall(r'<th scope="row"[^>]*><a href="(/entity\?name=[^"]*)"', text)
    best = None
    for name in names:
        table = explorer.request(name, headers=cookie)[1]
        found = re.search(r'href="(/object\?[^"]*)" class="id"', table)
        count = table.count("data-row=")
        if found and (best is None or count > best[0]):
            best = (count, name, found.group(1).replace("&amp;", "&"))
    result = {"entities": "/", "history": "/history", "model": "/model", "check": "/check"}
    if best:
        name = best[1].split("name=")[1]
        result |= {"table": best[1], "object": best[2], "sql": f"/sql?name={name}"}
        column = re.search(r'href="(/facet\?[^"]*)"', explorer.request(best[1], headers=cookie)[1])
        if column:
            result["facet"] = column.group(1).replace("&amp;", "&")
    result |= {"timeline": "/timeline", "search": "/search?text=a", "no search": "/search"}
    return result


def visit(explorer, label, browser, shoot=False):
    browser.enter(explorer)
    for name, path in pages(explorer).items():
        browser.open(path)
        heading = browser.find("h1").text
        check(heading not in ("Not found", "The store cannot be read", "Stopped", "Busy"), f"{label} {name}: {heading}")
        check(len(browser.all("main")) == 1 and len(browser.all("header nav")) == 1, f"{label} {name}: landmarks")
        browser.examine(f"{label} {name}")
        if shoot:
            browser.narrow(f"{label} {name}")
            if label == "wide":
                browser.walk(f"{label} {name}")
            browser.shot(f"{label}-{name}")
    complaints = browser.complaints()
    check(not complaints, f"{label}: {complaints[:3]}")


def copy(source, name):
    """A copy of a store with its log, that may be written."""
    target = place / name
    target.mkdir()
    for suffix in ["", "-wal", "-shm"]:
        if os.path.exists(str(source) + suffix):
            shutil.copyfile(str(source) + suffix, target / (pathlib.Path(source).name + suffix))
    return target / pathlib.Path(source).name


# MARK: Parts


def corpus(browser):
    root = pathlib.Path(options.corpus)
    stores = ["magicalrecord-recipes/Recipes.sqlite", "duckduckgo/Bookmarks_V5.sqlite", "ileapp/ios17-NoteStore.sqlite"]
    if not root.is_dir():
        say("No corpus beside the package: its three stores are left out.")
        return
    for number, store in enumerate(stores):
        with Explorer(copy(root / store, f"corpus{number}")) as explorer:
            visit(explorer, pathlib.Path(store).stem, browser)
    say("Three stores of Apple's framework: every page.")


def refusals(explorer):
    cookie = {"Cookie": explorer.cookie()}
    check(explorer.request("/")[0] == 401, "no token is refused")
    check(explorer.request("/?token=" + "0" * 64)[0] == 401, "a wrong token is refused")
    check(explorer.request("/", headers=cookie | {"Host": "evil.example"})[0] == 421, "a foreign host is refused")
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "https://evil.example"}
    check(explorer.request("/changes/save", "POST", cookie | form, "form-token=x")[0] == 403, "a cross-site post is refused")
    check(explorer.request("/", headers=cookie)[0] == 200, "the cookie lets in")


def editing(browser):
    store = place / "library" / "Library.sqlite"
    store.parent.mkdir()
    trials("library", store)
    with Explorer(store, "--edit", "--author", "the check") as explorer:
        refusals(explorer)
        browser.enter(explorer)
        # A filter with an error, and completion.
        browser.open("/entity?name=Book")
        field = browser.find("#where")
        field.send_keys("pages >> 3", Keys.ENTER)
        browser.wait(lambda: "^" in browser.find(".caret").text, "the mistake has its caret")
        check(browser.find("#where").get_attribute("aria-invalid") == "true", "the field is marked")
        browser.examine("filter mistake")
        browser.shot("mistake")
        browser.open("/entity?name=Book")
        field = browser.find("#where")
        field.send_keys("author.na")
        browser.wait(lambda: browser.all(".options li"), "key paths are completed")
        browser.shot("completion")
        field.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
        check(field.get_attribute("value") == "author.name", "the completion is taken")
        field.send_keys(' == "Joseph Roth"', Keys.ENTER)
        browser.wait(lambda: len(browser.all("tr[data-row]")) == 2, "the filter follows the relationship")
        # Follows a link and goes back.
        browser.find("td a.object").click()
        check("Joseph Roth" in browser.find("h1").text, "a cell leads to the other end")
        browser.find(".members a").click()
        check(browser.find("h1").text in ("Hiob", "Radetzkymarsch"), "and back")
        # Another program writes.
        browser.open("/entity?name=Author")
        browser.wait(lambda: "Live" in browser.find("#live").text, "the page follows the store")
        trials("add", store, "Author", "name", "Mascha Kaléko")
        browser.wait(lambda: any("Mascha" in row.text for row in browser.all("tr.new")), "a row of another program appears, marked")
        browser.shot("live")
        # A concurrent change of another program.
        browser.open("/object?entity=Book&key=1")
        browser.find(".heading .button").click()
        field = browser.find("#field-title")
        field.clear()
        field.send_keys("mine")
        browser.examine("edit form")
        browser.shot("edit")
        browser.find("form.edit button.primary").click()
        browser.wait(lambda: "mine" in browser.find("ins").text, "the diff shows the change")
        browser.examine("changes")
        browser.shot("changes")
        trials("set", store, "Book", 1, "title", "theirs")
        browser.find("form[action='/changes/save'] button").click()
        browser.wait(lambda: "theirs" in browser.find(".conflict").text, "the conflict shows")
        browser.examine("conflict")
        browser.shot("conflict")
        browser.find(".conflict form button").click()
        browser.wait(lambda: browser.find(".done").text == "Saved.", "the conflict is settled")
        browser.open("/object?entity=Book&key=1")
        check(browser.find("h1").text == "mine", "the settled value is there")
        browser.open("/history")
        check("the check" in browser.find(".transactions").text, "history names the author")
        # Edits that validation rejects.
        browser.open("/new?entity=Author")
        browser.find("form.edit button.primary").click()
        browser.wait(lambda: browser.all("#field-name-message"), "what is wrong stands at the field")
        browser.examine("validation")
        complaints = browser.complaints()
        check(not complaints, f"editing: {complaints[:3]}")
    say("Filter, completion, round trip, live row, edit with conflict.")


def workbench(browser):
    """The search, the time axis, values, the diagram and the comparison."""
    store = place / "workbench" / "Library.sqlite"
    store.parent.mkdir()
    trials("library", store)
    before = copy(store, "before")
    trials("add", store, "Author", "name", "Mascha Kaléko")
    with Explorer(store, "--edit", "--against", str(before)) as explorer:
        browser.enter(explorer)
        browser.find("body").send_keys("/")
        browser.driver.switch_to.active_element.send_keys("kaleko", Keys.ENTER)
        browser.wait(lambda: browser.all("main mark"), "a slash leads to the search, which finds without accents")
        browser.examine("search")
        browser.shot("search")
        browser.find(".hit h2 a").click()
        check(browser.find("h1").text == "Mascha Kaléko", "a place leads to its object")
        browser.open("/compare")
        browser.wait(lambda: "Mascha" in browser.find("ins").text, "the comparison shows what was added")
        browser.examine("compare")
        browser.shot("compare")
        # A part of the time is chosen by dragging.
        browser.open("/timeline")
        axis = browser.find("[data-axis] svg")
        width = axis.size["width"]
        webdriver.ActionChains(browser.driver).move_to_element_with_offset(axis, -width // 4, 0).click_and_hold().move_by_offset(
            width // 2, 0
        ).release().perform()
        browser.wait(lambda: "from=" in browser.driver.current_url, "a drag on the axis chooses its part of the time")
        browser.examine("timeline part")
        # The values of a column, and the rows of one.
        browser.open("/entity?name=Book")
        browser.find("a.facet").click()
        browser.wait(lambda: " of " in browser.find("h1").text, "a column leads to its values")
        browser.find("tbody th a").click()
        browser.wait(lambda: len(browser.all("tr[data-row]")) > 0, "a value leads to its rows")
        # Objects of a relationship by name.
        browser.open("/new?entity=Book")
        field = browser.find("#field-author")
        field.send_keys("mascha")
        browser.wait(lambda: browser.all(".options li"), "objects are found by name")
        browser.shot("pick")
        field.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
        check(field.get_attribute("value").startswith("Author/p"), "the object is taken")
        # The diagram.
        browser.open("/")
        wide = browser.find(".diagram svg").size["width"]
        browser.find(".zoom [aria-label=Larger]").click()
        check(browser.find(".diagram svg").size["width"] > wide, "the diagram is enlarged")
        browser.examine("diagram")
        # The page follows the store, and would complain of the end.
        browser.open("/model")
        complaints = browser.complaints()
        check(not complaints, f"workbench: {complaints[:3]}")
    say("Search, comparison, time axis, values, objects by name, diagram.")


def hostile(browser):
    store = place / "hostile" / "Hostile.sqlite"
    store.parent.mkdir()
    trials("hostile", store)
    with Explorer(store, "--edit") as explorer:
        visit(explorer, "hostile", browser)
        for path in list(pages(explorer).values()):
            browser.open(path)
            check(browser.driver.title != "owned" and "owned" not in browser.driver.title.split(" · ")[0:1], f"hostile: title of {path}")
            scripts = [element.get_attribute("src") for element in browser.all("script")]
            check(scripts == [explorer.base + "/script.js"], f"hostile: scripts of {path}: {scripts}")
            check(not browser.all("main img[onerror], main script"), f"hostile: elements of {path}")
    say("The hostile store is inert.")


def narrow_and_dark(store):
    for label, words in {"narrow": {"width": 400}, "dark": {"dark": True}, "wide": {}, "narrow dark": {"width": 400, "dark": True}}.items():
        with Explorer(store) as explorer, Browser(**words) as browser:
            visit(explorer, label, browser, shoot=True)
    with Explorer(store) as explorer, Browser(script=False) as browser:
        browser.driver.get(explorer.url)
        WebDriverWait(browser.driver, 10).until(lambda driver: driver.title.startswith("Entities"))
        browser.base = explorer.base
        browser.find("tbody th a").click()
        check(browser.all("tr[data-row]") != [] or browser.all(".none") != [], "pages work without the script")
        # The keyboard alone: the first stop leads past the header.
        browser.open("/")
        browser.find("body").send_keys(Keys.TAB)
        check(browser.driver.switch_to.active_element.text == "Skip to the content", "the first tab stop skips the header")
    say("400 and 1,280 px, light and dark, with the keyboard alone, without the script.")


def timed(explorer, cookie, path, count):
    """Seconds of the quickest half of some requests, and the last answer."""
    seconds, text = [], ""
    connection = http.client.HTTPConnection(explorer.host, explorer.port)
    for _ in range(count):
        begin = time.perf_counter()
        connection.request("GET", path, headers=cookie)
        answer = connection.getresponse()
        text = answer.read().decode()
        seconds.append(time.perf_counter() - begin)
        check(answer.status == 200, f"{path}: {answer.status}")
    return sorted(seconds)[len(seconds) // 4], text


def million(browser):
    store = place / "million" / "Million.sqlite"
    store.parent.mkdir()
    begin = time.time()
    # A debug build makes fewer, for which the same must hold.
    count = 1_000_000 if options.figures else 100_000
    trials("million", store, str(count))
    say(f"{count:,} rows made in {time.time() - begin:.0f} s, {store.stat().st_size / 1e6:.0f} MB.")
    with Explorer(store) as explorer:
        cookie = {"Cookie": explorer.cookie()}
        begin = time.perf_counter()
        explorer.request("/entity?name=Track", headers=cookie)
        cold = time.perf_counter() - begin
        first, _ = timed(explorer, cookie, "/entity?name=Track", 40)
        page = f"/entity?name=Track&after={count - 50}&n={count - 50}"
        end_of_list = f"{count - 49:,}–{count:,} of {count:,}"
        late, text = timed(explorer, cookie, page, 40)
        # The rows are counted in the background.
        end = time.time() + 20
        while end_of_list not in text and time.time() < end:
            time.sleep(0.2)
            _, text = timed(explorer, cookie, page, 1)
        check(end_of_list in text, f"page {count // 50:,} is the last one")
        title, _ = timed(explorer, cookie, "/entity?name=Track&sort=title", 20)
        _, last = timed(explorer, cookie, "/entity?name=Track&sort=title&last=1", 1)
        import re

        before = re.search(r'href="([^"]*)" rel="prev"', last).group(1).replace("&amp;", "&")
        title_late, _ = timed(explorer, cookie, before, 20)
        say(
            f"First page {cold * 1e3:.1f} ms at first, {first * 1e3:.1f} ms then; page {count // 50:,} {late * 1e3:.1f} ms ({late / first:.2f} x); "
            f"by title {title * 1e3:.1f} ms, last but one {title_late * 1e3:.1f} ms ({title_late / title:.2f} x)."
        )
        connection = http.client.HTTPConnection(explorer.host, explorer.port, timeout=60)
        begin = time.perf_counter()
        connection.request("GET", "/timeline", headers=cookie)
        answer = connection.getresponse()
        answer.read1()
        paint = time.perf_counter() - begin
        text = answer.read().decode()
        whole = time.perf_counter() - begin
        # Beside the tracks there are some others.
        check(f"{count:,}"[:-1] in text, "the timeline has all tracks")
        say(f"The timeline's first bytes after {paint * 1e3:.0f} ms, the whole page after {whole * 1e3:.0f} ms.")
        if options.figures:
            check(paint < 0.3, f"the timeline's first bytes take {paint * 1e3:.0f} ms")
            check(cold < 0.1, f"the first page takes {cold * 1e3:.0f} ms")
            check(late < first * 1.2, f"page {count // 50:,} takes {late / first:.2f} times as long as page 1")
        visit(explorer, "million", browser)
        browser.open("/entity?name=Track")
        browser.find("a[rel=next]").click()
        check("51–100 of" in browser.find(".range").text, "the next page follows")
        load(explorer, cookie)
    narrow_and_dark(store)


def load(explorer, cookie):
    """Fifty clients at once, each with its own connection."""
    paths = [
        "/", "/entity?name=Track", "/entity?name=Track&after=500000", "/entity?name=Track&last=1", "/object?entity=Track&key=77",
        "/entity?name=Track&sort=title&where=plays%20%3E%209000", "/entity?name=Album", "/object?entity=Album&key=1", "/history", "/model",
        "/sql?name=Track&where=title%20%3D%3D%20%22x%22", "/complete?name=Track&text=al",
    ]
    counts, errors = [0] * 50, []
    end = time.time() + options.load

    def client(number):
        connection = http.client.HTTPConnection(explorer.host, explorer.port, timeout=60)
        turn = number
        while time.time() < end:
            path = paths[turn % len(paths)]
            turn += 1
            try:
                connection.request("GET", path, headers=cookie)
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    errors.append(f"{path}: {answer.status}")
            except Exception as error:
                errors.append(f"{path}: {error!r}")
                connection.close()
            counts[number] += 1

    clients = [threading.Thread(target=client, args=(number,)) for number in range(50)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    memory = explorer.memory()
    say(f"50 clients for {options.load:.0f} s: {sum(counts)} pages, {len(errors)} errors, at most {memory:.0f} MB.")
    check(not errors, f"under load: {errors[:3]}")
    if options.figures:
        check(memory < 150, f"memory reached {memory:.0f} MB")


with Browser() as browser:
    corpus(browser)
    editing(browser)
    workbench(browser)
    hostile(browser)
    million(browser)
if failures:
    say(f"{len(failures)} of {checks} checks failed.")
    sys.exit(1)
say(f"{checks} checks passed.")
