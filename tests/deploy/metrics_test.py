"""The metrics: their names and labels, and that they equal known traffic exactly.

usage: metrics_test.py SERVER_BINARY [--write-golden]
"""

import pathlib
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import server
import traffic

SERVER = sys.argv[1]
GOLDEN = pathlib.Path(__file__).parent / "metrics_golden.txt"


def outline(scrape):
    """One line a metric: name, type, labels with their values (or "…" where a value is of the build or machine)."""
    names = {}
    for name, labels in scrape.values:
        base = name
        for suffix in ("_bucket", "_sum", "_count"):
            if base.endswith(suffix) and base[:-len(suffix)] in scrape.types:
                base = base[:-len(suffix)]
        found = names.setdefault(base, {})
        for label, value in labels:
            found.setdefault(label, set()).add("…" if label == "version" else value)
    lines = []
    for name in sorted(names):
        lines.append("%s %s" % (name, scrape.types[name]))
        lines += ["  %s: %s" % (label, " ".join(sorted(values))) for label, values in sorted(names[name].items())]
    return "\n".join(lines) + "\n"


class Names(unittest.TestCase):
    def test_names_types_and_labels_are_the_agreed_ones_before_any_call(self):
        with server.Server(SERVER) as own:
            scrape = own.metrics()
            self.assertEqual(outline(scrape), GOLDEN.read_text())
            self.assertEqual({name for name in scrape.types if not scrape.helps.get(name)}, set())

    def given_up_before_a_scrape(self, own):
        """How many of connections that never ask the server gave up before it answered one that did."""
        host, port = own.metrics_address.rsplit(":", 1)
        silent = [socket.create_connection((host, int(port))) for _ in range(32)]
        try:
            # Connections are served in their order: each of these has its thread before the scrape gets one.
            self.assertEqual(outline(own.metrics()), GOLDEN.read_text())
            return len(select.select(silent, [], [], 0)[0])
        finally:
            for each in silent:
                each.close()

    def test_connections_that_never_ask_do_not_keep_scrapers_out(self):
        with server.Server(SERVER) as own:
            # Again where the machine stood still for as long as the server is patient.
            self.assertIn(0, (self.given_up_before_a_scrape(own) for _ in range(3)))

    def test_scrapes_do_not_leave_their_memory_with_each_thread(self):
        with server.Server(SERVER) as own:
            first = own.metrics()("process_resident_memory_bytes")
            for _ in range(200):  # every thread has had its turns
                own.exposition()
            self.assertLess(own.metrics()("process_resident_memory_bytes") - first, 12 * 2 ** 20)

    @unittest.skipIf(shutil.which("promtool") is None, "there is no promtool")
    def test_promtool_finds_nothing(self):
        with server.Server(SERVER) as own:
            done = subprocess.run(["promtool", "check", "metrics"], input=own.exposition(), capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


class Traffic(unittest.TestCase):
    def check(self, known, scrape):
        for expected, name, labels in (
                (known.started, "grpc_server_started_total", ["grpc_method"]),
                (known.started, "grpc_server_msg_received_total", ["grpc_method"]),
                (known.started, "grpc_server_handling_seconds_count", ["grpc_method"]),
                (known.sent, "grpc_server_msg_sent_total", ["grpc_method"]),
                (known.handled, "grpc_server_handled_total", ["grpc_method", "grpc_code"]),
                (known.refused, "reversi_refused_total", ["method", "reason"]),
                (known.retries, "reversi_retries_answered_total", ["method"]),
                (known.created, "reversi_games_created_total", ["variant", "players"]),
                (known.finished, "reversi_games_finished_total", ["variant", "players", "reason"]),
                (known.moves, "reversi_moves_total", ["variant", "outcome"])):
            self.assertEqual(scrape.by(name, *labels), dict(known_without_zeros(expected)), name)
        self.assertEqual(scrape("reversi_tokens_refused_total"),
                         sum(count for (_, reason), count in known.refused.items() if reason == "BAD_TOKEN"))
        self.assertEqual(scrape("reversi_store_puts_total", outcome="done"), known.puts)
        self.assertEqual(scrape("reversi_store_put_seconds_count"), scrape("reversi_store_puts_total"))
        self.assertEqual(scrape("reversi_events_sent_total"), known.events)
        self.assertEqual(scrape("reversi_watchers"), 0)
        self.assertEqual(scrape("reversi_games_active"), 0)
        completed = sum(count for (_, _, reason), count in known.finished.items() if reason == "completed")
        for name in ("reversi_game_plies_count", "reversi_game_duration_seconds_count"):
            self.assertEqual(scrape(name), completed)

    def test_equal_traffic_of_every_kind(self):
        with server.Server(SERVER) as own:
            before = own.metrics()
            known = traffic.Traffic(own.address)
            for rules in traffic.RULES:
                known.play(rules, watchers=3)
            known.refused_calls()
            known.leavings()
            known.joining()
            known.timing_out(own.metrics)
            left = known.vanishing(5)
            server.wait_for(lambda: own.metrics()("reversi_watchers") == 0)
            self.assertEqual(own.metrics().by("reversi_games_active", "variant", "players"), {("multiplayer", "4"): 1})
            known.call("AbortGame", server.api.AbortGameRequest(game_id=left.game.game_id, owner_token=left.owner_token))
            known.over(left, "aborted")
            scrape = own.metrics()
            self.check(known, scrape)
            self.assertEqual(set(scrape.values), set(before.values), "series came or went")
            self.assertGreater(scrape("reversi_watch_lag_seconds_count"), 0)
            self.assertLessEqual(scrape("reversi_watch_lag_seconds_count"), known.events)

    @unittest.skipIf(shutil.which("etcd") is None, "there is no etcd")
    def test_equal_the_sums_over_two_replicas_on_one_store(self):
        place = self.enterContext(tempfile.TemporaryDirectory())
        key = pathlib.Path(place) / "token_key"
        key.write_text("k" * 40)
        flags = ["--store=etcd", "--etcd_endpoints=" + self.etcd(place), "--token_key_file=%s" % key]
        pair = [self.enterContext(server.Server(SERVER, *flags)) for _ in range(2)]
        known = traffic.Traffic(*(each.address for each in pair))
        for rules in traffic.RULES:
            known.play(rules, watchers=2)
        known.refused_calls()
        known.leavings()
        known.joining()
        # Each one learns of what the other did from the store.
        server.wait_for(lambda: all(each.metrics()("reversi_games_active") == 0 for each in pair))
        self.check(known, server.total([each.metrics() for each in pair]))

    def etcd(self, place):
        """The address of an etcd of the test's own."""
        address, peer = server.free_address(), server.free_address()
        process = subprocess.Popen(
            ["etcd", "--data-dir=%s/etcd" % place, "--listen-client-urls=http://" + address,
             "--advertise-client-urls=http://" + address, "--listen-peer-urls=http://" + peer],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return address

    def test_equal_failed_creations_at_the_limit_of_games(self):
        with server.Server(SERVER, "--max_games=2") as own:
            known = traffic.Traffic(own.address)
            made = [known.create() for _ in range(2)]
            for _ in range(3):
                known.call("CreateGame", server.api.CreateGameRequest())
            self.assertEqual(known.refused["CreateGame", "TOO_MANY_GAMES"], 3)
            self.assertEqual(own.metrics()("reversi_games_active"), 2)
            self.assertEqual(own.metrics()("reversi_games_limit"), 2)
            for each in made:
                known.call("AbortGame", server.api.AbortGameRequest(game_id=each.game.game_id,
                                                                    owner_token=each.owner_token))
                known.over(each, "aborted")
            self.check(known, own.metrics())

    def test_evicted_games_are_no_longer_active_nor_held(self):
        with server.Server(SERVER, "--keep_finished=100ms", "--keep_waiting=100ms", "--keep_idle=100ms") as own:
            known = traffic.Traffic(own.address)
            for open_seats in (0, 1):
                for _ in range(5):
                    known.over(known.create(seats=[server.api.Seat(kind=server.api.SEAT_KIND_OPEN)] * open_seats +
                                            [server.api.Seat()] * (4 - open_seats)), "expired")
            server.wait_for(lambda: own.metrics()("reversi_games_evicted_total") == 10 and
                            own.metrics()("reversi_games_held") == 0)
            known.puts += 10  # the games' own last events
            self.check(known, own.metrics())


def known_without_zeros(counter):
    return {key: count for key, count in counter.items() if count}


if __name__ == "__main__":
    if "--write-golden" in sys.argv:
        with server.Server(SERVER) as started:
            GOLDEN.write_text(outline(started.metrics()))
        sys.exit()
    unittest.main(argv=sys.argv[:1])
