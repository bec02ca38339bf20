#!/usr/bin/env python3
"""browser.py CHROMIUM SHOTS PAGE...: looks at pages in headless Chromium, at the widths of a phone and of a screen, light
and dark, and prints a line per finding and "N passed, N failed, N skipped". Pictures land in SHOTS. Standard library alone:
the browser is driven by its DevTools protocol over a pipe."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

WIDTHS = (390, 1280)
PATIENCE = 120        # s for an answer
SCHEMES = ("light", "dark")
LEAST_LETTERS = 10    # px of letters in a chart
LEAST_CONTRAST = 4.5  # of letters, WCAG 2.1 AA

# What is wrong in the page as it is laid out now. Run from outside: the page itself has no script.
LOOK = """(() => {
const wrong = [], wide = document.documentElement.clientWidth;
if (wide != window.innerWidth && innerWidth - wide > 20) wrong.push('viewport is ' + innerWidth + ', page ' + wide);
if (document.documentElement.scrollWidth > wide)
	wrong.push('the page is ' + document.documentElement.scrollWidth + ' px wide in ' + wide);
const scrolls = e => { for (; e; e = e.parentElement) if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX)) return true; };
for (const e of document.body.querySelectorAll('p,li,h1,h2,h3,h4,td,th,dd,dt,figure,svg,summary')) {
	const r = e.getBoundingClientRect();
	if (r.width && r.right > wide + 1 && !scrolls(e)) { wrong.push(e.tagName + ' ends at ' + r.right + ': ' + e.textContent.slice(0, 40)); break; }
}
const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
	return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
const contrast = (a, b) => { const x = light(a), y = light(b); return (Math.max(x, y) + .05) / (Math.min(x, y) + .05); };
const behind = e => { for (; e; e = e.parentElement) { const b = getComputedStyle(e).backgroundColor;
	if (b != 'rgba(0, 0, 0, 0)') return b; } return 'rgb(255, 255, 255)'; };
const poor = new Set();
for (const e of document.body.querySelectorAll('*')) {
	if (![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())) continue;
	const s = getComputedStyle(e), svg = e.closest('svg'), c = contrast(svg ? s.fill : s.color, behind(e));
	if (!e.closest('title,desc') && c < LEAST_CONTRAST) poor.add(e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + c.toFixed(2));
}
for (const p of poor) wrong.push('contrast of ' + p);
const page = getComputedStyle(document.body).backgroundColor;
for (const shape of document.querySelectorAll('svg [stroke^="var(--v"],svg [color^="var(--v"]')) {
	const s = getComputedStyle(shape), c = contrast(shape.hasAttribute('color') ? s.color : s.stroke, page);
	if (c < 3) { wrong.push('contrast of a mark ' + c.toFixed(2)); break; }
}
for (const svg of document.querySelectorAll('svg')) {
	const title = svg.querySelector(':scope > title'), desc = svg.querySelector(':scope > desc'), box = svg.getBoundingClientRect();
	if (svg.getAttribute('role') != 'img' || !title || !title.textContent || !desc || !desc.textContent) wrong.push('a chart without words');
	const boxes = [];
	for (const t of svg.querySelectorAll('text')) {
		const r = t.getBoundingClientRect(), size = parseFloat(getComputedStyle(t).fontSize) * box.width / svg.viewBox.baseVal.width;
		if (!t.textContent.trim()) continue;
		if (size < LEAST_LETTERS) wrong.push('letters of ' + size.toFixed(1) + ' px: ' + t.textContent);
		if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1)
			wrong.push('cut off in "' + (title || {}).textContent + '": ' + t.textContent);
		for (const b of boxes)
			if (r.left < b.r.right - 1 && b.r.left < r.right - 1 && r.top < b.r.bottom - 3 && b.r.top < r.bottom - 3)
				wrong.push('on top of each other in "' + (title || {}).textContent + '": ' + t.textContent + ' and ' + b.t);
		boxes.push({r: r, t: t.textContent});
	}
}
return {wrong: wrong.slice(0, 12), height: document.documentElement.scrollHeight, charts: document.querySelectorAll('svg').length,
	scheme: page};
})()""".replace("LEAST_LETTERS", str(LEAST_LETTERS)).replace("LEAST_CONTRAST", str(LEAST_CONTRAST))


class Browser:
    """Chromium at the other end of two pipes: messages of JSON, ended by a zero byte."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="kickbench-chromium-")
        to_child, self.write = os.pipe()
        self.read, from_child = os.pipe()
        # the browser reads its descriptor 3 and writes 4
        command = ["sh", "-c", f'exec "$@" 3<&{to_child} 4>&{from_child}', "sh", program, "--headless", "--no-sandbox",
                   "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
                   "--disable-background-networking", f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"]
        self.child = subprocess.Popen(command, pass_fds=(to_child, from_child), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def message(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.read], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.read, 1 << 20)
            if not piece:
                raise EOFError("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event):
        deadline = time.monotonic() + PATIENCE
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.message(deadline))

    def close(self):
        try:
            self.session = None
            self.ask("Browser.close")
        except (OSError, EOFError, TimeoutError, RuntimeError):
            pass
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
        shutil.rmtree(self.profile, ignore_errors=True)

    def show(self, page, width, scheme):
        """Load it; returns what the console and the network had to say."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.ask("Page.navigate", url=pathlib.Path(page).resolve().as_uri())
        self.wait_for("Page.loadEventFired")
        said = []
        for e in self.events:
            method, params = e.get("method"), e.get("params", {})
            if method == "Log.entryAdded":
                said.append("console: " + params["entry"]["text"])
            elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                said.append(method)
            elif method == "Network.requestWillBeSent" and params["request"]["url"] != pathlib.Path(page).resolve().as_uri():
                said.append("request for " + params["request"]["url"][:80])
        return said

    def picture(self, path, width, height):
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True,
                        clip={"x": 0, "y": 0, "width": width, "height": min(height, 16000), "scale": 1})["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))


def main():
    program, shots, pages = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    shots.mkdir(parents=True, exist_ok=True)
    passed = failed = 0
    browser = Browser(program)
    try:
        for page in pages:
            name = pathlib.Path(page).stem
            wrong, backgrounds = [], set()
            for width in WIDTHS:
                for scheme in SCHEMES:
                    where = f"{width} px, {scheme}: "
                    wrong += [where + s for s in browser.show(page, width, scheme)]
                    for opened in (False, True):
                        if opened:
                            browser.picture(shots / f"{name}-{width}-{scheme}.png", width, value["height"])
                            browser.ask("Runtime.evaluate",
                                        expression="document.querySelectorAll('details').forEach(d => d.open = true)")
                        seen = browser.ask("Runtime.evaluate", expression=LOOK, returnByValue=True)
                        if "exceptionDetails" in seen:
                            raise RuntimeError(seen["exceptionDetails"]["exception"]["description"])
                        value = seen["result"]["value"]
                        wrong += [where + s for s in value["wrong"]]
                    backgrounds.add(value["scheme"])
            if len(backgrounds) != 2:
                wrong.append("light and dark look the same")
            for w in dict.fromkeys(wrong):
                print(f"      | {w}")
            print(f"{'FAIL' if wrong else 'pass'}  {name}: {value['charts']} charts")
            passed, failed = passed + (not wrong), failed + bool(wrong)
    finally:
        browser.close()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


main()
