"""The recording rules and every alert, firing and not firing, by `promtool test rules` on the rule as it is rendered."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

import rendered

SKIPPED = 77
SOURCE = rendered.DEPLOY / "k8s/components/monitoring/rules.yaml"
JOB = {"namespace": "games", "job": "reversi"}
POD = {**JOB, "pod": "reversi-1"}
CALLS = 'grpc_server_handled_total{%s,grpc_service="reversi.v1.GameService",grpc_method="SubmitMove",grpc_code="%s"}'


def series(name, values, **labels):
    text = ",".join('%s="%s"' % pair for pair in {**POD, **labels}.items())
    return {"series": "%s{%s}" % (name, text), "values": values}


def calls(values, code="OK", **labels):
    return series("grpc_server_handled_total", values, grpc_service="reversi.v1.GameService", grpc_method="SubmitMove",
                  grpc_code=code, **labels)


def started(values, **labels):
    return series("grpc_server_started_total", values, grpc_service="reversi.v1.GameService", grpc_method="SubmitMove",
                  **labels)


def refused(values, reason="STORE_UNAVAILABLE"):
    return series("reversi_refused_total", values, method="SubmitMove", reason=reason)


def latency(name, fast, slow, at, **labels):
    """A histogram with a bucket up to `at`: `fast` observations a minute below it, and `slow` ones above."""
    return [series(name, "0+%dx100" % fast, le=at, **labels), series(name, "0+%dx100" % (fast + slow), le="10", **labels),
            series(name, "0+%dx100" % (fast + slow), le="+Inf", **labels)]


def moves(values):
    return series("reversi_moves_total", values, variant="multiplayer", outcome="accepted")


UNARY = {"grpc_service": "reversi.v1.GameService", "grpc_type": "unary", "grpc_method": "SubmitMove"}
OTHER = {"pod": "reversi-2"}
# Of every alert: its labels, series with which it fires, and series, near to those, with which it does not. A sample a
# minute; looked at after 90 minutes.
CASES = {
    "ReversiDown": (JOB, [[series("up", "1x80 0x30")]],
                    [[series("up", "0x100"), series("up", "1x100", **OTHER)], [series("up", "1x89 0x1 1x20")]]),
    "ReversiFailing": (JOB, [[calls("0+1000x100"), calls("0+30x100", "Internal"), refused("0x100")],
                             [calls("0+1000x100"), calls("0x100", "Internal"), refused("0+30x100")]],
                       # Players' errors, and a failure that is over.
                       [[calls("0+1000x100"), calls("0+900x100", "FailedPrecondition"), calls("0x100", "Internal"),
                         refused("0+900x100", "ILLEGAL_MOVE")],
                        [calls("0+1000x100"), calls("0+30x70 2100x40", "Internal"), refused("0x100")]]),
    "ReversiFailingSlowly": (JOB, [[calls("0+1000x100"), calls("0+5x100", "Internal"), refused("0x100")]],
                             [[calls("0+1000x100"), calls("0+1x100", "Internal"), refused("0x100")]]),
    "ReversiSlow": (JOB, [latency("grpc_server_handling_seconds_bucket", 90, 10, "0.25", **UNARY)],
                    [latency("grpc_server_handling_seconds_bucket", 999, 1, "0.25", **UNARY),
                     # Watches last as long as games do.
                     latency("grpc_server_handling_seconds_bucket", 1, 99, "0.25", **{**UNARY, "grpc_type": "server_stream"})]),
    "ReversiNoMoves": (JOB, [[moves("0+60x72 4320x40"), series("reversi_games_active", "9x100")]],
                       [[moves("0+60x72 4320x40"), series("reversi_games_active", "0x100")],
                        [moves("0+60x100"), series("reversi_games_active", "9x100")],
                        # Quiet for long.
                        [moves("0x100"), series("reversi_games_active", "9x100")]]),
    "ReversiWatchersLag": (POD, [latency("reversi_watch_lag_seconds_bucket", 90, 10, "1")],
                           [latency("reversi_watch_lag_seconds_bucket", 999, 1, "1")]),
    "ReversiStoreFailing": (POD, [[series("reversi_store_puts_total", "0+100x100", outcome="done"),
                                   series("reversi_store_puts_total", "0+2x100", outcome="unknown")],
                                  [series("reversi_store_reachable", "1x80 0x20")]],
                            [[series("reversi_store_puts_total", "0+1000x100", outcome="done"),
                              series("reversi_store_puts_total", "0+900x100", outcome="conflict"),
                              series("reversi_store_puts_total", "0+1x100", outcome="unknown"),
                              series("reversi_store_reachable", "1x100")]]),
    "ReversiMemoryNearLimit": (POD, [[series("process_resident_memory_bytes", "90x100"), series("reversi_memory_limit_bytes", "100x100")]],
                               [[series("process_resident_memory_bytes", "80x100"), series("reversi_memory_limit_bytes", "100x100")],
                                [series("process_resident_memory_bytes", "80x100"), series("reversi_memory_limit_bytes", "0x100")]]),
    "ReversiGamesNearLimit": (POD, [[series("reversi_games_held", "90x100"), series("reversi_games_limit", "100x100")]],
                              [[series("reversi_games_held", "80x100"), series("reversi_games_limit", "100x100")]]),
    "ReversiWatchersNearLimit": (POD, [[series("reversi_watchers", "90x100"), series("reversi_watchers_limit", "100x100")]],
                                 [[series("reversi_watchers", "80x100"), series("reversi_watchers_limit", "100x100")]]),
    "ReversiRestarting": (POD, [[series("process_start_time_seconds", "1x70 2x5 3x5 4x40")]],
                          [[series("process_start_time_seconds", "1x80 2x40")]]),
    "ReversiReplicaIdle": (POD, [[started("7x100"), calls("0+600x100", **OTHER), series("reversi_draining", "0x100")]],
                           [[started("0+1x100"), calls("0+600x100", **OTHER), series("reversi_draining", "0x100")],
                            # Nobody calls.
                            [started("7x100"), calls("7x100", **OTHER), series("reversi_draining", "0x100")],
                            [started("7x100"), calls("0+600x100", **OTHER), series("reversi_draining", "1x100")]]),
}
RECORDED = {
    "namespace_job:reversi_moves:rate5m": ([moves("0+60x100"), {**moves("0+120x100"), "series": moves("")["series"].replace(
        "reversi-1", "reversi-2")}], 3),
    "namespace_job:reversi_games_created:rate5m": ([series("reversi_games_created_total", "0+30x100", players="4")], 0.5),
    "namespace_job:reversi_games_completed:rate5m": ([series("reversi_games_finished_total", "0+30x100", reason="completed"),
                                                      series("reversi_games_finished_total", "0+90x100", reason="aborted")], 0.5),
    "namespace_job:reversi_games_active:max": ([series("reversi_games_active", "3x100", players="3"),
                                                series("reversi_games_active", "4x100", players="4"),
                                                series("reversi_games_active", "7x100", **OTHER)], 7),
    "namespace_job:reversi_failures:ratio_rate5m": ([calls("0+750x100"), calls("0+240x100", "NotFound"),
                                                     calls("0+10x100", "Internal"), refused("0+10x100")], 0.02),
}


def rule_groups():
    if rendered.why_not() is None:
        found = rendered.of_kind(rendered.overlay("memory"), "PrometheusRule")
        assert len(found) == 1
        return found[0]["spec"]["groups"]
    print("the rule is read from its file: " + rendered.why_not())
    return yaml.safe_load(SOURCE.read_text())["spec"]["groups"]


GROUPS = rule_groups()
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"] if "alert" in rule}


def expected(alert, labels):
    said = {name: re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: labels[found[1]], text)
            for name, text in ALERTS[alert]["annotations"].items()}
    return {"exp_labels": {**labels, **ALERTS[alert]["labels"]}, "exp_annotations": said}


class Rules(unittest.TestCase):
    def run_promtool(self, tests):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": GROUPS}))
            (folder / "test.yaml").write_text(yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m",
                                                              "tests": tests}))
            done = subprocess.run(["promtool", "test", "rules", str(folder / "test.yaml")], capture_output=True, text=True)
            return done.returncode == 0, done.stdout + done.stderr

    def alert_test(self, alert, given, fires):
        labels = CASES[alert][0]
        return {"interval": "1m", "input_series": given, "alert_rule_test": [
            {"eval_time": "90m", "alertname": alert, "exp_alerts": [expected(alert, labels)] if fires else []}]}

    def test_every_alert_fires_when_it_should_and_only_then(self):
        self.assertEqual(set(CASES), set(ALERTS))
        for alert, (_, firing, quiet) in CASES.items():
            with self.subTest(alert=alert):
                self.assertTrue(firing and quiet)
                ok, told = self.run_promtool([self.alert_test(alert, given, True) for given in firing] +
                                             [self.alert_test(alert, given, False) for given in quiet])
                self.assertTrue(ok, told)

    def test_a_wrong_expectation_is_found(self):
        ok, _ = self.run_promtool([self.alert_test("ReversiGamesNearLimit", CASES["ReversiGamesNearLimit"][2][0], True)])
        self.assertFalse(ok)

    def test_recorded_series(self):
        ok, told = self.run_promtool([
            {"interval": "1m", "input_series": given, "promql_expr_test": [
                # Sums over series come in any order, and with it their last bit.
                {"expr": f"round({name}, 0.000001)", "eval_time": "90m", "exp_samples": [
                    {"labels": '{namespace="games",job="reversi"}', "value": value}]}]}
            for name, (given, value) in RECORDED.items()])
        self.assertTrue(ok, told)

    def test_every_alert_says_what_it_means_and_where_it_stands_what_to_do(self):
        for alert, rule in ALERTS.items():
            self.assertIn(rule["labels"]["severity"], ("critical", "warning"))
            self.assertEqual(set(rule["annotations"]), {"summary", "description", "runbook_url"}, alert)
            self.assertTrue(rule["annotations"]["runbook_url"].startswith("deploy/README.md#"))


if __name__ == "__main__":
    if shutil.which("promtool") is None:
        print("skipped: there is no promtool")
        sys.exit(SKIPPED)
    unittest.main()
