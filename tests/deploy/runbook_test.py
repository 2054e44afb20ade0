"""The runbook knows every flag as `--help` tells it, and its files are there.

usage: runbook_test.py SERVER_BINARY [--write]     --write: makes the table of flags anew
"""

import pathlib
import re
import subprocess
import sys
import unittest

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
RUNBOOK = DEPLOY / "README.md"
SERVER = sys.argv[1]
BLOCK = re.compile(r"(<!-- flags: .* -->\n)(.*?)(<!-- end of flags -->\n)", re.S)


def table():
    told = subprocess.run([SERVER, "--help"], capture_output=True, text=True, check=True).stdout
    lines = []
    for line in told.splitlines():
        flag = re.match(r"  (--\w+) (\S+?)(?:=(\S*))? \(Env:\w+\)\s*(.*)", line)
        text = re.match(r" {20,}(\S.*)", line)
        heading = re.match(r"(\S.*):$", line)
        if heading and heading[1] != "Options":
            lines += ["", "**%s**" % heading[1], "", "| flag | default | |", "|---|---|---|"]
        elif flag:
            name, kind, default, meaning = flag.groups()
            lines.append("| `%s` %s | %s |" % (name, kind, "`%s`" % default if default else "none"))
            if meaning:
                lines[-1] += " %s |" % meaning
        elif text and lines and lines[-1].startswith("| `--") and lines[-1].count("|") == 3:
            # A long flag has its meaning on the next line.
            lines[-1] += " %s |" % text[1]
    return "\n".join(lines).lstrip("\n") + "\n"


class Runbook(unittest.TestCase):
    def test_the_table_of_flags_is_what_help_says(self):
        rows = [line for line in table().splitlines() if line.startswith("| `--")]
        self.assertGreater(len(rows), 20)
        self.assertEqual([row for row in rows if row.count("|") < 4], [])
        self.assertEqual(BLOCK.search(RUNBOOK.read_text())[2], table(),
                         "make it anew: tests/deploy/runbook_test.py SERVER --write")

    def test_every_alert_has_a_section(self):
        sections = {line.lstrip("# ").lower() for line in RUNBOOK.read_text().splitlines() if line.startswith("### ")}
        rules = (DEPLOY / "k8s/components/monitoring/rules.yaml").read_text()
        linked = set(re.findall(r"runbook_url: deploy/README.md#(\w+)", rules))
        self.assertGreater(len(linked), 8)
        self.assertEqual(linked, sections)

    def test_files_that_are_named_are_there(self):
        text = RUNBOOK.read_text()
        for path in re.findall(r"`((?:tests|deploy|k8s|grafana|components)/[\w./-]+\.\w+)`", text):
            places = [DEPLOY / path, DEPLOY.parent / path, DEPLOY / "k8s" / path]
            self.assertTrue(any(place.exists() for place in places), path)

    def test_settings_that_are_named_are_flags(self):
        known = set(re.findall(r"--\w+|REVERSI_[A-Z_]+",
                               subprocess.run([SERVER, "--help"], capture_output=True, text=True, check=True).stdout))
        prose = re.sub(r"```.*?```", "", RUNBOOK.read_text(), flags=re.S)
        for name in re.findall(r"`(--[a-z]+_[a-z_]+|REVERSI_[A-Z_]+)", prose):
            self.assertIn(name, known | {"--tls_"})


if __name__ == "__main__":
    if "--write" in sys.argv:
        RUNBOOK.write_text(BLOCK.sub(lambda found: found[1] + table() + found[3], RUNBOOK.read_text()))
        sys.exit()
    unittest.main(argv=sys.argv[:1])
