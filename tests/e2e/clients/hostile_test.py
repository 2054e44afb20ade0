"""Callers that do not keep to HTTP/2 or to good manners; the server lives and others are served.

usage: hostile_test.py <source folder> <build folder> garbage|stopped_reader|resets
"""
import pathlib
import random
import resource
import sys
import threading

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "tests"))

import grpc  # noqa: E402

import raw_http2 as h2  # noqa: E402
from server_process import ServerProcess  # noqa: E402

CREATE = "/reversi.v1.GameService/CreateGame"
WATCH = "/reversi.v1.GameService/WatchGame"


class Neighbour:
    """A well-behaved caller, without generated code: bytes in, bytes out."""

    def __init__(self, address):
        self._channel = grpc.insecure_channel(address)

    def call(self, method, request=b""):
        return self._channel.unary_unary(f"/reversi.v1.GameService/{method}")(request, timeout=60)

    def check(self):
        assert b"MULTIPLAYER" in self.call("ListVariants").upper()


def send_and_drop(address, data, greeted=True):
    """Sends what the server may refuse at any point, then leaves."""
    connection = h2.greeted(address) if greeted else h2.connect(address)
    try:
        connection.sendall(data)
        connection.settimeout(0.2)
        connection.recv(4096)
    except OSError:
        pass
    connection.close()


def garbage(server):
    neighbour = Neighbour(server.address)
    chance = random.Random(20240607)
    noise = chance.randbytes(1 << 16)
    raw = [noise, b"\0" * 65536, b"\xff" * 65536, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
           b"\x16\x03\x01\x02\x00\x01" + noise[:512],
           h2.PREFACE + noise, h2.PREFACE + b"\0" * 4096, h2.PREFACE[:10], b""]
    block = h2.headers(CREATE)

    def opened(*messages):
        """A call whose messages are these bytes."""
        return (h2.frame(h2.HEADERS, h2.END_HEADERS, 1, block) + b"".join(
            h2.frame(h2.DATA, h2.END_STREAM, 1, content) for content in messages))

    framed = {
        "a frame longer than allowed": h2.frame(h2.DATA, 0, 1, b"", length=0xFFFFFF) + noise,
        "settings of a wrong length": h2.frame(h2.SETTINGS, 0, 0, b"12345"),
        "settings on a stream": h2.frame(h2.SETTINGS, 0, 1, b""),
        "a window of 2^31": h2.frame(h2.WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff") * 2,
        "a window update of nothing": h2.frame(h2.WINDOW_UPDATE, 0, 0, b"\0\0\0\0"),
        "data on a stream that was never opened": h2.frame(h2.DATA, 0, 5, b"hello"),
        "an even stream": h2.frame(h2.HEADERS, h2.END_HEADERS, 2, block),
        "stream 0": h2.frame(h2.HEADERS, h2.END_HEADERS, 0, block),
        "streams that go back":
            h2.frame(h2.HEADERS, h2.END_HEADERS, 9, block) + h2.frame(h2.HEADERS, h2.END_HEADERS, 3, block),
        "continuation of nothing": h2.frame(h2.CONTINUATION, 0, 1, block),
        "headers that go on for ever":
            h2.frame(h2.HEADERS, 0, 1, block) + h2.frame(h2.CONTINUATION, 0, 1, h2.literal("a", "b" * 100)) * 5000,
        "broken compression": h2.frame(h2.HEADERS, h2.END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff\xff\xff"),
        "noise for headers": h2.frame(h2.HEADERS, h2.END_HEADERS, 1, noise[:8000]),
        "a stream that depends on itself": h2.frame(h2.PRIORITY, 0, 1, b"\0\0\0\1\0"),
        "pushed by a client": h2.frame(h2.PUSH_PROMISE, h2.END_HEADERS, 1, b"\0\0\0\2" + block),
        "a ping of a wrong length": h2.frame(h2.PING, 0, 0, b"123"),
        "many pings": h2.frame(h2.PING, 0, 0, b"12345678") * 20000,
        "many settings": h2.frame(h2.SETTINGS, 0, 0, b"") * 20000,
        "goaway": h2.frame(h2.GOAWAY, 0, 0, b"\0" * 8) + h2.call(1, CREATE, b""),
        "unknown frames": h2.frame(99, 255, 1, noise[:1000]) * 10,
        "a message longer than it is": opened(b"\0\xff\xff\xff\xff1"),
        "compressed by an unknown method": opened(b"\1\0\0\0\1x"),
        "no message": h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 1, block),
        "a path of 16 kB": h2.frame(h2.HEADERS, h2.END_HEADERS, 1, b"\0\5:path\x7f" + b"\x81\x7f" + b"/" * 16256),
    }
    for data in raw:
        send_and_drop(server.address, data, greeted=False)
        neighbour.check()
    for name, data in framed.items():
        print(name)
        send_and_drop(server.address, data)
        neighbour.check()
    # Valid frames with a few bytes spoilt, and cut short.
    valid = (h2.frame(h2.SETTINGS) + h2.call(1, CREATE, b"") + h2.frame(h2.PING, 0, 0, b"12345678") +
             h2.call(3, WATCH, b""))
    for _ in range(200):
        spoilt = bytearray(valid)
        for _ in range(chance.randint(1, 5)):
            spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
        connection = h2.connect(server.address)
        connection.sendall(h2.PREFACE + spoilt[:chance.randint(1, len(spoilt))])
        connection.close()
    neighbour.check()
    # Connections that say nothing.
    idle = [h2.connect(server.address) for _ in range(300)]
    neighbour.check()
    for connection in idle:
        connection.close()
    neighbour.check()


def stopped_reader(server):
    """Many watches through a connection that never gives the server room to send: it stops within its grace."""
    neighbour = Neighbour(server.address)
    game_id = b"watched-by-nobody"
    neighbour.call("CreateGame", b"\x22" + bytes([len(game_id)]) + game_id)
    request = b"\x0a" + bytes([len(game_id)]) + game_id + b"\x10\x00"
    snapshot = request[:-2]
    connection = h2.greeted(server.address)
    # 65,535 bytes of answers fill the window; the watches after that all have to wait.
    for i in range(600):
        connection.sendall(h2.call(1 + 2 * i, WATCH, request if i % 2 else snapshot))
    received = 0
    connection.settimeout(1)
    try:
        while True:
            piece = connection.recv(65536)
            received += len(piece)
            if not piece:
                break
    except TimeoutError:
        pass
    print("bytes sent to the reader that gives no room:", received)
    neighbour.check()
    # ServerProcess asserts the exit code when it stops; this connection stays open until then.
    return connection


def resets(server):
    """100,000 streams opened and reset at once, over four connections."""
    neighbour = Neighbour(server.address)
    served = threading.Event()
    stop = threading.Event()
    calls = 0

    def serve():
        nonlocal calls
        while not stop.is_set():
            neighbour.check()
            calls += 1
            served.set()

    other = threading.Thread(target=serve)
    other.start()
    served.wait(60)
    streams = 0
    block = h2.headers(CREATE)
    while streams < 100_000:
        connection = h2.greeted(server.address)
        try:
            for first in range(1, 50_000, 200):
                connection.sendall(b"".join(
                    h2.frame(h2.HEADERS, h2.END_HEADERS, stream, block) +
                    h2.frame(h2.RST_STREAM, 0, stream, b"\0\0\0\x08") for stream in range(first, first + 200, 2)))
                streams += 100
        except OSError as error:
            print("cut by the server after", streams, "streams:", error)
        connection.close()
    stop.set()
    other.join()
    neighbour.check()
    print(streams, "streams reset;", calls, "calls of a neighbour served meanwhile")
    assert calls > 0


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    attack = {"garbage": garbage, "stopped_reader": stopped_reader, "resets": resets}[sys.argv[3]]
    with ServerProcess(BUILD / "reversi_server", "--drain_grace=5s") as server:
        kept = attack(server)
        assert server.process.poll() is None, "the server has died"
    if kept:
        kept.close()


main()
