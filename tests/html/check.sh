#!/usr/bin/env bash
# check.sh BUILD: the HTML report, read as a browser reads it. Pages of synthetic runs come from the unit test; pictures
# of them land in BUILD/html-shots. Ends with "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/kickbench-html.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0

result() { # STATUS NAME
	if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
	echo "$([ "$1" = 0 ] && echo pass || echo FAIL)  $2"
}

mkdir "$scratch/pages"
KB_HTML_PAGES=$scratch/pages "$build/plain/test_report_html" >"$scratch/log" 2>&1
result $? "pages of synthetic runs" || cat "$scratch/log"
KB_HTML_PAGES=$scratch/pages "$build/plain/test_matrix_report" >"$scratch/log" 2>&1
result $? "pages of synthetic matrices" || cat "$scratch/log"

# Every element that is opened is closed, in the right order; libxml2's HTML parser is too old for svg and details.
cat >"$scratch/nesting.py" <<'EOF'
import html.parser, sys
VOID = {"meta", "br", "hr", "input", "img", "link"}
class Nesting(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids = [], set()
    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        assert not any(name.startswith("on") for name in names), f"<{tag}> has a handler"
        ident = dict(attrs).get("id")
        assert ident not in self.ids or ident is None, f"the id {ident} comes twice"
        self.ids.add(ident)
        if tag not in VOID:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()
    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> at {self.getpos()} closes {self.open[-3:]}"
        self.open.pop()
for path in sys.argv[1:]:
    page = Nesting()
    page.feed(open(path, encoding="utf-8").read())
    page.close()
    assert not page.open, f"{path}: left open: {page.open}"
EOF
python3 "$scratch/nesting.py" "$scratch"/pages/*.html
result $? "elements are nested, identifiers are unique, bytes are UTF-8"

"$build/kickbench" report --format html tests/golden/format-hostile/run >"$scratch/pages/command.html" &&
	grep -q '</html>' "$scratch/pages/command.html"
result $? "kickbench report --format html"
"$build/kickbench" report --format html tests/golden/format-matrix/run >"$scratch/pages/matrix-command.html" 2>"$scratch/log"
[ $? = 1 ] && grep -q '</html>' "$scratch/pages/matrix-command.html" # 1: cells of it are corrupt
result $? "kickbench report --format html of a matrix"

if ! command -v chromium >/dev/null; then
	echo "SKIP  in a browser: chromium is missing"
	echo "$passed passed, $failed failed, $((skipped + 1)) skipped"
	exit $((failed > 0))
fi

# Eyes that see nothing wrong have to be open: a page with one fault of each kind.
cat >"$scratch/bad.html" <<'EOF'
<!DOCTYPE html><html><head><meta name="viewport" content="width=device-width"></head><body style="background:#fff">
<script>console.error("faulty")</script><img src="other.png"><p style="width:2000px;color:#999">pale and wide</p>
<svg viewBox="0 0 400 50" width="300"><text font-size="8" x="5" y="30">small</text><text x="6" y="30">above</text></svg></body></html>
EOF
python3 tests/html/browser.py chromium "$scratch/shots" "$scratch/bad.html" >"$scratch/log" 2>&1
seen=0
for fault in "px wide in 390" "contrast of P" "letters of 6.0 px: small" "without words" "on top of each other" "request for" \
	"Runtime.consoleAPICalled" "light and dark look the same"; do
	grep -q "$fault" "$scratch/log" && continue
	seen=1
	echo "      | not seen: $fault"
	tail -n 5 "$scratch/log" | sed 's/^/      | /'
	break
done
result $seen "a page with faults: they are seen"

python3 tests/html/browser.py chromium "$build/html-shots" "$scratch"/pages/{quick,disks,hostile,many,wild,incomplete,command,matrix,matrix-wide,matrix-command}.html \
	>"$scratch/log" 2>&1
grep -v 'passed, .* failed' "$scratch/log"
read -r p _ f _ < <(grep -E '^[0-9]+ passed' "$scratch/log" || echo "0 passed, 1 failed,")
passed=$((passed + p)) failed=$((failed + f))
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
