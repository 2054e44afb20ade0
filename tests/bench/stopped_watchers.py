"""Watchers that read nothing, and what the server's memory grows by while games go on."""

import os
import pathlib
import re
import socket
import struct
import sys
import tempfile
import threading
import time
import urllib.request

import grpc

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "e2e", "clients"))
import generated  # noqa: E402
import raw_http2 as h2  # noqa: E402

INITIAL_WINDOW_SIZE = 4  # the setting's number
# Moves before the measurement: every watch is stopped in a message of its own by then.
FIRST_MOVES = 4
# Rounds of the other games before it: until the allocator has what it keeps for itself.
WARM_UPS = 4


class StoppedWatches:
    """Watches on one connection whose windows stay closed: nothing but headers gets through."""

    def __init__(self, address, game_id, count):
        self.connection = h2.connect(address)
        self.connection.sendall(h2.PREFACE + h2.frame(h2.SETTINGS, payload=struct.pack(">HI", INITIAL_WINDOW_SIZE, 0)))
        self.drained = threading.Thread(target=self.drain)
        self.drained.start()
        self.connection.sendall(h2.frame(h2.SETTINGS, 1))
        request = b"\x0a" + bytes([len(game_id)]) + game_id.encode()
        for i in range(count):
            self.connection.sendall(h2.call(2 * i + 1, "/reversi.v1.GameService/WatchGame", request))

    def drain(self):
        """Headers and settings are taken, so that the socket itself is not what stops the server."""
        while self.connection.recv(65536):
            pass

    def close(self):
        self.connection.shutdown(socket.SHUT_RDWR)
        self.drained.join()
        self.connection.close()


def await_watchers(server, count):
    address = re.search(r"metrics=(\S+)", server.line).group(1)
    for _ in range(600):
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as answer:
            if f"\nreversi_watchers {count}\n" in answer.read().decode():
                return
        time.sleep(0.05)
    sys.exit(f"{count} watches are not open after half a minute")


def resident_bytes(server):
    with open(f"/proc/{server.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class OwnGame:
    """The game that they watch, played with the first legal move each time."""

    def __init__(self, channel):
        folder = tempfile.TemporaryDirectory()
        generated.generate(pathlib.Path(TESTS).parent, folder.name)
        sys.path.insert(0, folder.name)
        from reversi.v1 import reversi_pb2, reversi_pb2_grpc  # pylint: disable=import-outside-toplevel
        self.v1 = reversi_pb2
        self.api = reversi_pb2_grpc.GameServiceStub(channel)
        created = self.api.CreateGame(self.v1.CreateGameRequest())
        self.id, self.tokens = created.game.game_id, created.seat_tokens
        self.position, self.version = created.game.position, created.game.version

    def play(self, moves):
        while self.position.legal_moves and moves > 0:
            event = self.api.SubmitMove(self.v1.SubmitMoveRequest(
                game_id=self.id, seat_token=self.tokens[self.position.turn - 1], move=self.position.legal_moves[0],
                expected_version=self.version)).event
            self.position, self.version = event.position, event.version
            moves -= 1


def growth(table, watchers, games):
    """Bytes that the server grows by while the rest of the watched game and `games` others of 50 moves are played."""
    others = ("hold", f"--games={games}", "--plies=50")
    with table.service("--keepalive_time=0s") as server, grpc.insecure_channel(server.address) as channel:
        own = OwnGame(channel)
        stopped = StoppedWatches(server.address, own.id, watchers)
        await_watchers(server, watchers)
        own.play(FIRST_MOVES)
        for _ in range(WARM_UPS):
            table.load(server, *others)
        before = resident_bytes(server)
        own.play(100)
        table.load(server, *others)
        grown = resident_bytes(server) - before
        await_watchers(server, watchers)  # none was cut meanwhile
        stopped.close()
        return grown
