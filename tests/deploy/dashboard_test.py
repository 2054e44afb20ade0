"""Every query of the dashboard, against a real Prometheus that scrapes two real servers under mixed traffic: each one
finds something, and asks for nothing that the servers do not have.

usage: dashboard_test.py SERVER_BINARY
"""

import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request

import yaml

import server
import traffic

SKIPPED = 77
BINARY = sys.argv.pop() if len(sys.argv) > 1 else ""
DASHBOARD = json.loads((server.ROOT / "deploy/grafana/reversi.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
VARIABLES = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}


class Prometheus:
    """Scrapes each server as a pod of its own, once a second."""

    def __init__(self, servers):
        self.place = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.place.name)
        scrape = {"job_name": "reversi", "static_configs": [
            {"targets": [each.metrics_address], "labels": {"namespace": "games", "pod": "reversi-%d" % number}}
            for number, each in enumerate(servers)]}
        (folder / "prometheus.yml").write_text(yaml.safe_dump({"global": {"scrape_interval": "1s"},
                                                               "scrape_configs": [scrape]}))
        self.address = server.free_address()
        self.log = (folder / "log").open("w")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file=%s/prometheus.yml" % folder, "--storage.tsdb.path=%s/data" % folder,
             "--web.listen-address=" + self.address], stdout=self.log, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        self.log.close()
        self.place.cleanup()

    def ask(self, what, **parameters):
        url = "http://%s/api/v1/%s?%s" % (self.address, what, urllib.parse.urlencode(parameters, doseq=True))
        try:
            with urllib.request.urlopen(url, timeout=server.PATIENCE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError("%s: %s" % (parameters, error.read().decode())) from None

    def query(self, text):
        return self.ask("query", query=text)["result"]

    def ready(self):
        try:
            return len(self.query("up == 1")) == 2
        except (OSError, AssertionError):
            return False


def substituted(text):
    values = {"namespace": "games", "job": "reversi", "pod": ".*", "__rate_interval": "30s"}
    return re.sub(r"\$(\w+)", lambda found: values[found[1]], text)


def everything(known):
    """Traffic of every kind but watchers' ends."""
    for rules in traffic.RULES:
        known.play(rules, watchers=2)
    known.refused_calls()
    known.leavings()
    known.joining()


class Shape(unittest.TestCase):
    def test_throughput_comes_first(self):
        self.assertEqual((DASHBOARD["panels"][0]["type"], DASHBOARD["panels"][0]["title"]), ("row", "Throughput"))

    def test_every_panel_has_title_description_unit_and_legend(self):
        for panel in PANELS:
            self.assertTrue(panel["title"] and panel["description"].endswith("."), panel)
            self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
            self.assertTrue(panel["targets"] and all(target["legendFormat"] for target in panel["targets"]))

    def test_panels_have_ids_of_their_own_and_do_not_overlap(self):
        taken = set()
        self.assertEqual(len({panel["id"] for panel in DASHBOARD["panels"]}), len(DASHBOARD["panels"]))
        for panel in DASHBOARD["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24)
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells

    def test_namespace_job_and_pod_can_be_chosen_and_every_query_heeds_them(self):
        self.assertEqual(list(VARIABLES), ["datasource", "namespace", "job", "pod"])
        for panel in PANELS:
            for target in panel["targets"]:
                for selector in re.findall(r"\{([^}]*)\}", target["expr"]):
                    for name in ("namespace", "job", "pod"):
                        self.assertIn('%s=~"$%s"' % (name, name), selector)


class Queries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = [server.Server(BINARY, "--keep_finished=1s") for _ in range(2)]
        for each in cls.servers:
            cls.addClassCleanup(each.__exit__)
        cls.prometheus = cls.enterClassContext(Prometheus(cls.servers))
        server.wait_for(cls.prometheus.ready)
        known = [traffic.Traffic(each.address, seed=seed) for seed, each in enumerate(cls.servers)]
        stop = threading.Event()

        def keep_calling(one):
            while not stop.is_set():
                everything(one)

        # Games cannot be made twice under one request_id: what joins makes new ones, since old ones are given up.
        threads = [threading.Thread(target=keep_calling, args=(one,), daemon=True) for one in known]
        for one in known:
            one.joining = lambda: None
        for thread in threads:
            thread.start()
        try:
            # A rate takes two samples with a change between them, from every server.
            needed = ["rate(reversi_games_evicted_total[30s]) > 0", "rate(reversi_game_plies_count[30s]) > 0",
                      "rate(reversi_watch_lag_seconds_count[30s]) > 0"]
            server.wait_for(lambda: all(len({each["metric"]["pod"] for each in cls.prometheus.query(text)}) == 2
                                        for text in needed))
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_every_query_finds_something(self):
        for panel in PANELS:
            for target in panel["targets"]:
                with self.subTest(panel=panel["title"], expr=target["expr"]):
                    found = self.prometheus.query(substituted(target["expr"]))
                    values = [float(each["value"][1]) for each in found]
                    self.assertTrue([value for value in values if not math.isnan(value)])
                    # What the legend names must be there to be shown.
                    for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                        self.assertTrue(all(each["metric"].get(label) for each in found), label)

    def test_every_metric_label_and_value_that_is_asked_for_is_there(self):
        for panel in PANELS:
            for target in panel["targets"]:
                expression = substituted(target["expr"])
                for name, selector in re.findall(r"([a-z_]\w*)\{([^}]*)\}", expression):
                    with self.subTest(panel=panel["title"], metric=name):
                        self.assertTrue(self.prometheus.query("%s{%s}" % (name, selector)))
                        held = self.prometheus.ask("series", **{"match[]": name})
                        for label, operator, value in re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', selector):
                            options = value.split("|") if operator in ("=~", "!~") else [value]
                            for option in options:
                                self.assertTrue([each for each in held if label in each and
                                                 (option == ".*" or each[label] == option)], (label, option))

    def test_every_variable_has_something_to_choose(self):
        for name in ("namespace", "job", "pod"):
            selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", VARIABLES[name]["query"]["query"]).groups()
            held = self.prometheus.ask("series", **{"match[]": substituted(selector)})
            self.assertTrue([each for each in held if each.get(label)], name)

    def test_mixed_traffic_had_failures(self):
        self.assertTrue(self.prometheus.query('reversi_moves_total{outcome="ILLEGAL_MOVE"} > 0'))


if __name__ == "__main__":
    if shutil.which("prometheus") is None:
        print("skipped: there is no prometheus")
        sys.exit(SKIPPED)
    unittest.main()
