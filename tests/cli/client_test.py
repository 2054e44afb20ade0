"""The terminal client as a script and a person use it, against a server process.

usage: client_test.py <build folder> [unittest arguments]
"""
import concurrent.futures
import json
import os
import pathlib
import re
import socket
import stat
import subprocess
import sys
import tempfile
import unittest

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from server_process import ServerProcess  # noqa: E402
from relay import Relay  # noqa: E402
from screen import Screen  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
CLIENT = str(BUILD / "reversi")
SERVER = str(BUILD / "reversi_server")


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = ServerProcess(SERVER).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def environment(self, **more):
        return dict({"PATH": os.environ["PATH"], "REVERSI_SERVER": self.server.address}, **more)

    def run_client(self, *words, code=0, typed="", **environment):
        done = subprocess.run([CLIENT, *words], input=typed, capture_output=True, text=True, timeout=120,
                              cwd=self.folder, env=self.environment(**environment))
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def json(self, *words):
        return [json.loads(line) for line in self.run_client(*words, "--json").stdout.splitlines()]

    def create(self, *words):
        """A new game: its id and the name of the file with its tokens."""
        made, = self.json("create", *words, "--save", "tokens")
        return made["game"]["game_id"], made

    # Reading

    def test_variants_name_all_four_systems_and_call_royal_a_reconstruction(self):
        text = self.run_client("variants").stdout
        for name in ("multiplayer", "standard", "rolit", "royal"):
            self.assertRegex(text, f"(?m)^{name}  ")
        self.assertRegex(text, "royal  .*reconstruction")
        self.assertEqual([variant["variant"] for variant in self.json("variants")][0], "VARIANT_MULTIPLAYER")

    def test_a_game_is_drawn_in_letters_where_nobody_sees_colours(self):
        game, _ = self.create("--players", "3", "--names", "black=Anna", "--unlisted")
        text = self.run_client("show", game).stdout
        self.assertNotIn("\x1b", text)
        self.assertIn(f"Game {game}, version 1: multiplayer for 3 on 8x8, most discs win", text)
        self.assertIn(" 4  .  .  .  B  W  +  .  .", text)
        self.assertIn("> B Black    1  Anna", text)
        self.assertIn("\x1b[", self.run_client("show", game, "--color", "always").stdout)

    def test_json_is_one_object_a_line_with_the_names_of_the_proto(self):
        game, made = self.create("--board", "10x10")
        self.assertEqual(len(made["seat_tokens"]), 4)
        shown, = self.json("show", game)
        self.assertEqual(shown["rules"]["board"], "BOARD_10X10")
        self.assertEqual(shown["position"]["empty"], 96)
        self.assertEqual(shown["moves"], [])
        listed = self.json("list", "--state", "active", "--variant", "multiplayer", "--limit", "1000")
        self.assertIn(game, [one["game_id"] for one in listed])
        self.assertEqual(self.json("list", "--limit", "0"), [])

    # Moves and refusals

    def test_a_move_takes_the_token_of_the_seat_on_turn_from_the_file(self):
        game, made = self.create("--players", "3")
        self.assertIn("black d6 turns d5; B 3 W 1 R 1",
                      self.run_client("move", game, "d6", "--tokens", "tokens").stdout)
        moves = self.json("show", game)[0]["position"]["legal_moves"]
        event, = self.json("move", game, moves[0], "--tokens", "tokens", "--expected_version", "2")
        self.assertEqual((event["version"], event["moved"]["color"]), ("3", "COLOR_WHITE"))
        red = self.json("show", game)[0]["position"]["legal_moves"][0]
        self.run_client("move", game, red, REVERSI_TOKEN=made["seat_tokens"][2])

    def test_exit_codes_tell_refusals_apart(self):
        game, made = self.create("--players", "3")
        tokens = ["--tokens", "tokens"]
        for code, words in [
                (2, ["dance"]), (2, ["create", "--turn_limit", "1ms"]), (2, ["move", game, "d6"]),
                (3, ["create", "--board", "6x6"]), (3, ["create", "--players", "2"]),
                (3, ["create", "--blocked", "d4"]), (3, ["move", game, "c3", *tokens]),
                (3, ["move", game, "D6", *tokens]), (3, ["move", game, "d6", *tokens, "--seat", "white"]),
                (4, ["show", "no-such-game"]), (4, ["watch", "no-such-game"]), (4, ["join", "no-such-game"]),
                (5, ["move", game, "d6", "--token", "wrong"]), (5, ["abort", game, "--token", "wrong"]),
                (6, ["create", "--id", game]), (6, ["join", game]),
                (6, ["move", game, "d6", *tokens, "--expected_version", "7"]),
                (6, ["watch", game, "--after_version", "7"]),
                (9, ["move", game, "d6", "--tokens", "nowhere"]), (9, ["import", "nowhere"]),
                (9, ["show", game, "--tls_ca", "nowhere"])]:
            with self.subTest(words=words):
                done = self.run_client(*words, code=code)
                self.assertEqual(done.stdout, "")
                self.assertNotEqual(done.stderr, "")
        self.assertEqual(self.json("show", game)[0]["version"], "1")

    def test_a_refusal_names_reason_field_and_metadata(self):
        game, _ = self.create("--players", "3")
        text = self.run_client("move", game, "c3", "--tokens", "tokens", code=3).stderr
        self.assertIn("reversi: ILLEGAL_MOVE: ", text)
        self.assertIn("why=flips_nothing", text)
        self.assertIn("field rules.blocked_squares[1]", self.run_client("create", "--blocked", "a1,z9", code=3).stderr)
        done = self.run_client("move", game, "c3", "--tokens", "tokens", "--json", code=3)
        status = json.loads(done.stderr)
        self.assertEqual([one["reason"] for one in status["details"] if "reason" in one], ["ILLEGAL_MOVE"])

    def test_a_server_that_is_not_there_is_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound, not listening: refused
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            for words in (["variants"], ["watch", "abcd"], ["demo"]):
                text = self.run_client(*words, "--server", address, code=7).stderr
                self.assertIn(f"cannot reach a server at {address}", text)
                self.assertIn("reversi_server --listen", text)

    def test_a_call_that_met_a_server_in_the_moment_of_its_stop_is_repeated(self):
        calls = []

        def answer(_, context):
            calls.append(1)
            if len(calls) == 1:
                context.abort(grpc.StatusCode.CANCELLED, "CANCELLED")
            return b""

        class Stopping(grpc.GenericRpcHandler):
            def service(self, _):
                return grpc.unary_unary_rpc_method_handler(answer)

        stopping = grpc.server(concurrent.futures.ThreadPoolExecutor(1), handlers=[Stopping()])
        port = stopping.add_insecure_port("127.0.0.1:0")
        stopping.start()
        self.addCleanup(stopping.stop, None)
        self.run_client("variants", "--server", f"127.0.0.1:{port}")
        self.assertEqual(len(calls), 2)

    def test_tokens_are_kept_for_their_owner_alone(self):
        game, made = self.create("--open", "red")
        self.assertEqual(stat.S_IMODE((self.folder / "tokens").stat().st_mode), 0o600)
        text = (self.folder / "tokens").read_text()
        self.assertIn(f"game {game}\n", text)
        self.assertIn(f"owner {made['owner_token']}\n", text)
        self.assertNotIn("red", text)
        other, _ = self.create("--id", "other-game")
        self.assertIn("holds tokens of game other-game",
                      self.run_client("move", game, "d6", "--tokens", "tokens", code=2).stderr)

    # Seats and leaving

    def test_open_seats_are_joined_and_left(self):
        game, _ = self.create("--players", "3", "--open", "2")
        self.assertIn("Waiting for open seats", self.run_client("show", game).stdout)
        self.assertEqual(self.json("join", game, "--seat", "red", "--name", "Ben")[0]["color"], "COLOR_RED")
        self.assertIn("You are white.", self.run_client("join", game, "--save", "white.tokens").stdout)
        self.run_client("join", game, code=6)
        self.assertIn("white resigned", self.run_client("resign", game, "--tokens", "white.tokens").stdout)
        event, = self.json("resign", game, "--tokens", "tokens", "--seat", "black")
        self.assertEqual(event["result"]["winner"], "COLOR_RED")
        self.assertIn("Red wins with", self.run_client("show", game).stdout)
        self.run_client("move", game, "d6", "--tokens", "tokens", "--seat", "black", code=3)

    def test_seats_that_the_game_has_not_are_refused(self):
        for words in (["--open", "5"], ["--open", "blue"], ["--names", "yellow=Ben"]):
            self.assertIn("for 4 players", self.run_client("create", *words, code=2).stderr)

    def test_the_owner_aborts(self):
        game, _ = self.create()
        self.assertIn("Nobody wins (aborted)", self.run_client("abort", game, "--tokens", "tokens").stdout)
        self.assertEqual(self.json("show", game)[0]["result"]["reason"], "RESULT_REASON_ABORTED")

    # Whole games

    def test_demo_plays_to_the_end_on_the_octagon_and_again_from_its_seed(self):
        first = self.run_client("demo", "--seed", "7").stdout
        self.assertIn("multiplayer for 4 on octagon, most discs win", first)
        self.assertRegex(first, r" wins with \d+ discs|A draw for the whole table")
        self.assertIn("`reversi demo --seed 7`", first)
        self.assertIn("\n 85  green", first)  # 84 moves after the creation

        def moves(text):
            return re.findall(r"(?m)^ +\d+  (.*)$", text)
        self.assertEqual(moves(first), moves(self.run_client("demo", "--seed", "7").stdout))
        self.assertNotEqual(moves(first), moves(self.run_client("demo", "--seed", "8").stdout))

    def test_demo_of_every_variant_as_json(self):
        for rules in (["--players", "3"], ["--variant", "standard", "--board", "6x6", "--objective", "fewest_discs"],
                      ["--variant", "rolit"], ["--variant", "royal", "--players", "4", "--sides"],
                      ["--random_blocked", "8", "--blocked_seed", "3"]):
            with self.subTest(rules=rules):
                lines = self.json("demo", "--seed", "1", *rules)
                self.assertEqual(lines[-1]["state"], "GAME_STATE_FINISHED")
                self.assertEqual([int(line["version"]) for line in lines], list(range(1, len(lines) + 1)))

    def test_export_and_import_make_the_same_game(self):
        for rules in (["--board", "octagon"], ["--variant", "standard", "--board", "6x6"],
                      ["--variant", "royal", "--players", "3"], ["--random_blocked", "6", "--players", "3"]):
            with self.subTest(rules=rules):
                game = self.json("demo", "--seed", "5", *rules)[0]["game_id"]
                self.run_client("export", game, "--file", "game.jsonl")
                again, = self.json("import", "game.jsonl")
                self.assertSameGame(self.json("show", game)[0], again["game"])
                # A game made from moves holds them in its first event: its file brings them, too.
                file = self.run_client("export", again["game"]["game_id"]).stdout
                (self.folder / "second.jsonl").write_text(file)
                self.assertEqual(len(file.splitlines()), 2)
                self.assertSameGame(self.json("show", game)[0], self.json("import", "second.jsonl")[0]["game"])

    def assertSameGame(self, one, other):
        self.assertNotEqual(one["game_id"], other["game_id"])
        for part in ("position", "moves", "rules", "state", "result"):
            self.assertEqual(one.get(part), other.get(part), part)

    def test_a_running_game_goes_through_a_transcript(self):
        game, _ = self.create("--variant", "standard", "--moves", "d3 c3 c4")
        text = self.run_client("export", game, "--transcript").stdout
        self.assertEqual(text, "d3c3c4\n")
        (self.folder / "game.txt").write_text(text.upper())
        again, = self.json("import", "game.txt", "--variant", "standard")
        self.assertSameGame(self.json("show", game)[0], again["game"])
        self.run_client("import", "game.txt", "--variant", "royal", code=3)

    def test_files_that_cannot_be_imported_are_refused_by_name(self):
        game, _ = self.create("--players", "3")
        self.run_client("resign", game, "--tokens", "tokens", "--seat", "white")
        self.run_client("export", game, "--file", "left.jsonl")
        self.assertIn("event 2: a leaving (white resigned)", self.run_client("import", "left.jsonl", code=9).stderr)
        self.assertIn("brings its own rules",
                      self.run_client("import", "left.jsonl", "--players", "3", code=2).stderr)
        (self.folder / "bad").write_text("d3x9\n")
        self.assertIn("no move at character 3", self.run_client("import", "bad", code=9).stderr)
        (self.folder / "none").write_text("")
        self.assertIn("none: the file is empty", self.run_client("import", "none", code=9).stderr)

    def test_perft_needs_no_server(self):
        text = self.run_client("perft", "6", "--variant", "standard", REVERSI_SERVER="127.0.0.1:1").stdout
        self.assertIn("depth  6  8200 leaves", text)
        lines = self.json("perft", "3", "--split")
        self.assertEqual(sum(int(line["leaves"]) for line in lines if "move" in line), 136)

    # Watching and playing

    def watch_in_background(self, *words):
        process = subprocess.Popen([CLIENT, "watch", *words], cwd=self.folder, env=self.environment(), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_watch_tells_every_event_to_the_end(self):
        game, _ = self.create("--variant", "standard", "--board", "6x6")
        process = self.watch_in_background(game, "--json")
        self.assertEqual(json.loads(process.stdout.readline())["snapshot"]["version"], "1")
        self.run_client("play", game, "--tokens", "tokens", typed="".join(self.any_game()))
        updates = [json.loads(line) for line in process.stdout]
        self.assertEqual(process.wait(), 0)
        versions = [int(update["event"]["version"]) for update in updates if "event" in update]
        self.assertEqual(versions, list(range(2, len(versions) + 2)))
        again = self.json("watch", game, "--after_version", "0")
        self.assertEqual([int(one["event"]["version"]) for one in again], list(range(1, len(versions) + 2)))

    def any_game(self):
        """The moves of some whole game by the same rules, a line each."""
        demo = self.json("demo", "--seed", "2", "--variant", "standard", "--board", "6x6")
        return [line["moved"]["move"] + "\n" for line in demo if "moved" in line]

    def test_watch_finds_the_server_again_and_misses_nothing(self):
        game, _ = self.create("--variant", "standard", "--board", "6x6")
        relay = Relay(self.server.address)
        self.addCleanup(relay.cut)
        process = self.watch_in_background(game, "--json", "--server", relay.address)
        process.stdout.readline()
        moves = self.any_game()
        for part in (moves[:5], moves[5:12], moves[12:]):
            relay.cut()
            self.run_client("play", game, "--tokens", "tokens", typed="".join(part))
            relay.mend()
        updates = [json.loads(line) for line in process.stdout]
        self.assertEqual(process.wait(), 0)
        versions = [int(update["event"]["version"]) for update in updates if "event" in update]
        self.assertEqual(versions, list(range(2, len(moves) + 2)))

    def test_of_several_servers_one_that_is_away_is_passed_over(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound, not listening: refused
            away = f"127.0.0.1:{taken.getsockname()[1]}"
            servers = f"{away},{self.server.address}"
            game = self.json("create", "--server", servers)[0]["game"]["game_id"]
            self.assertEqual(self.json("show", game, "--server", servers)[0]["game_id"], game)
            text = self.run_client("demo", "--seed", "7", "--server", servers).stdout
            moves = re.findall(r"(?m)^ +(\d+)  .*; played at (\S+), seen at (\S+)$", text)
            self.assertEqual([int(version) for version, _, _ in moves], list(range(2, 86)))
            self.assertEqual({(played, seen) for _, played, seen in moves}, {(self.server.address, self.server.address)})
            text = self.run_client("variants", "--server", f"{away},{away}", code=7).stderr
            self.assertIn(f"cannot reach a server at {away},{away}", text)

    def test_moves_go_round_the_servers_and_the_watch_stays_at_one(self):
        relay = Relay(self.server.address)
        self.addCleanup(relay.cut)
        servers = [self.server.address, relay.address]
        text = self.run_client("demo", "--seed", "7", "--server", ",".join(servers)).stdout
        moves = re.findall(r"(?m); played at (\S+), seen at (\S+)$", text)
        # The game itself was made at the first.
        self.assertEqual([played for played, _ in moves], [servers[1], servers[0]] * 42)
        self.assertEqual({seen for _, seen in moves}, {servers[0]})

    def test_watch_goes_on_at_the_next_server_and_misses_nothing(self):
        game, _ = self.create("--variant", "standard", "--board", "6x6")
        relay = Relay(self.server.address)
        process = self.watch_in_background(game, "--json", "--server", f"{relay.address},{self.server.address}")
        process.stdout.readline()
        relay.cut()  # for good
        moves = self.any_game()
        self.run_client("play", game, "--tokens", "tokens", typed="".join(moves))
        updates = [json.loads(line) for line in process.stdout]
        self.assertEqual(process.wait(), 0)
        versions = [int(update["event"]["version"]) for update in updates if "event" in update]
        self.assertEqual(versions, list(range(2, len(moves) + 2)))

    def test_watch_gives_up_when_the_server_stays_away(self):
        game, _ = self.create()
        relay = Relay(self.server.address)
        process = self.watch_in_background(game, "--server", relay.address, "--reconnect_for", "0.3s")
        process.stdout.readline()
        relay.cut()
        self.assertEqual(process.wait(60), 7)
        errors = process.stderr.read()
        self.assertIn("connection lost, looking for the server again", errors)
        self.assertIn("cannot reach a server", errors)

    def test_play_takes_moves_from_a_script_and_stops_at_a_refusal(self):
        done = self.run_client("play", "--players", "3", typed="d6\na1\nd3\n", code=3)
        self.assertIn("black d6", done.stdout)
        self.assertIn("ILLEGAL_MOVE", done.stderr)
        done = self.run_client("play", "--players", "3", typed="d6\n")
        self.assertIn("No more input", done.stdout)

    def test_play_on_a_terminal_draws_in_place_with_colours_and_a_clock(self):
        screen = Screen([CLIENT, "play", "--players", "3", "--turn_limit", "5m"], self.folder,
                        self.environment(TERM="xterm"))
        self.addCleanup(screen.close)
        screen.expect("Black, your move")
        self.assertIn("\x1b[1;97;40m B \x1b[0m", screen.text)
        self.assertRegex(screen.text, r"Time left: [45]:\d\d")
        screen.expect(r"\x1b7\r\[ +4:\d\d\] \x1b8")  # the clock alone, while something may be typed
        screen.type("a1\n")
        screen.expect("ILLEGAL_MOVE")
        screen.type("d6\n")
        screen.expect("White, your move")
        screen.type("resign\n")
        screen.expect(r"White +0  \(out\)")
        screen.expect("Red, your move")
        screen.type("quit\n")
        self.assertEqual(screen.ended(), 0)

    def test_watch_on_a_terminal_draws_in_place(self):
        game, _ = self.create("--players", "3")
        screen = Screen([CLIENT, "watch", game], self.folder, self.environment(TERM="xterm"))
        self.addCleanup(screen.close)
        screen.expect(r"\x1b\[H\x1b\[2J.*Black to move")
        self.run_client("move", game, "d6", "--tokens", "tokens")
        screen.expect(r"\x1b\[H\x1b\[2JGame")
        screen.expect("White to move")
        self.run_client("abort", game, "--tokens", "tokens")
        self.assertEqual(screen.ended(), 0)
        self.assertIn("Nobody wins (aborted)", screen.text)

    def test_two_terminals_play_one_game(self):
        one = Screen([CLIENT, "play", "--variant", "standard", "--open", "white", "--id", "two-terminals"],
                     self.folder, self.environment(TERM="xterm"))
        self.addCleanup(one.close)
        one.expect(f"reversi play two-terminals --join --server {self.server.address}")
        two = Screen([CLIENT, "play", "two-terminals", "--join", "--name", "Ben"], self.folder,
                     self.environment(TERM="dumb"))
        self.addCleanup(two.close)
        one.expect("Black, your move")
        self.assertIn("Ben", one.text)
        one.type("d3\n")
        two.expect("White, your move")
        self.assertNotIn("\x1b", two.text)
        two.type("c3\n")
        one.expect("white c3")
        two.type("resign\n")
        self.assertEqual(one.ended(), 0)
        self.assertEqual(two.ended(), 0)
        self.assertRegex(one.text, r"Black wins with \d+ discs \(resignation\)")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
