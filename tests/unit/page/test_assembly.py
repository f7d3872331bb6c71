"""The page is whole, and forbids itself what is not its own."""

import base64
import hashlib
import json
import re

from vestige.page.assembly import MODULES, STYLE, assembled, file_of_page, json_in_html

IMPORT = re.compile(r'^import .* from "([^"]+)";$', re.MULTILINE)
ANY_IMPORT = re.compile(r"\bimport\b")


def test_modules_import_only_modules_of_the_page():
    """A name that is no module of the page would be asked of somewhere."""
    known = {f"vestige/{name}" for name in MODULES}
    for name in MODULES:
        text = file_of_page(name)
        found = IMPORT.findall(text)
        assert set(found) <= known, name
        assert len(ANY_IMPORT.findall(text)) == len(found), name


def test_modules_import_each_other_in_no_circle():
    """So each can be read alone."""
    imports = {
        f"vestige/{name}": set(IMPORT.findall(file_of_page(name))) for name in MODULES
    }
    while imports:
        free = {name for name, used in imports.items() if not used & imports.keys()}
        assert free, f"in a circle: {sorted(imports)}"
        for name in free:
            del imports[name]


def test_each_module_is_in_the_one_file():
    """Nothing has to be fetched."""
    page = assembled("<b>the data</b>")
    found = re.search(r'<script type="importmap">(.*?)</script>', page)
    assert found
    addresses = json.loads(found[1])["imports"]
    assert addresses.keys() == {f"vestige/{name}" for name in MODULES}
    for name in MODULES:
        head, _, body = addresses[f"vestige/{name}"].partition(",")
        assert head == "data:text/javascript;base64"
        assert base64.b64decode(body).decode() == file_of_page(name)
    assert file_of_page(STYLE) in page
    assert "<b>the data</b>" in page
    assert "<!--" not in page.replace("<!doctype", "")


def test_a_served_page_names_addresses():
    """A server gives each file by itself."""
    addresses = {name: f"web/{name}" for name in (*MODULES, STYLE)}
    page = assembled("", addresses)
    assert '<link rel="stylesheet" href="web/page.css">' in page
    assert '"vestige/main.js":"web/main.js"' in page
    assert "data:" not in page


def test_only_its_own_scripts_may_run():
    """Names of a trace are text of strangers."""
    page = assembled("")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    rules = dict(
        rule.strip().split(" ", 1) for rule in policy[1].split(";") if rule.strip()
    )
    assert rules["default-src"] == "'none'"
    for script in re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in rules["script-src"]
    assert "unsafe" not in rules["script-src"]


def test_json_cannot_end_its_element():
    """Whatever its strings hold."""
    text = json_in_html({"name": "</script><script>alert(1)</script><!--"})
    assert "<" not in text
    assert json.loads(text)["name"].startswith("</script>")
