"""A server of the test's own, its metrics, and calls to it."""

import collections
import importlib
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import grpc

ROOT = pathlib.Path(__file__).resolve().parents[2]
# For what must happen: far longer than it ever takes, so that only a hang meets it.
PATIENCE = 60


def _generated():
    """The messages, generated from the .proto files, as a caller does it."""
    place = tempfile.TemporaryDirectory()
    files = ["reversi/v1/reversi.proto", "google/rpc/status.proto", "google/rpc/error_details.proto"]
    subprocess.run(["protoc", "-I", str(ROOT / "proto"), "--python_out", place.name] + files, check=True)
    sys.path.insert(0, place.name)
    try:
        api = importlib.import_module("reversi.v1.reversi_pb2")
        # google is a package of Debian's too: the generated part of it stands beside that.
        import google
        google.__path__.append(place.name + "/google")
        return api, importlib.import_module("google.rpc.status_pb2"), importlib.import_module("google.rpc.error_details_pb2")
    finally:
        sys.path.pop(0)
        place.cleanup()


api, status_pb2, details_pb2 = _generated()


class Server:
    """Started on free ports; stopped at the end of a `with`."""

    def __init__(self, binary, *flags, environment=None):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [binary, "--listen=127.0.0.1:0", "--metrics_listen=127.0.0.1:0", "--drain_delay=0s", *flags],
            stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment)
        line = self.process.stdout.readline()
        found = dict(re.findall(r"(\w+)=(\S+)", line))
        if "grpc" not in found:
            self.process.wait()
            raise AssertionError("the server did not start: " + self.told())
        self.address, self.metrics_address = found["grpc"], found["metrics"]
        self.health_address = found.get("health")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def told(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def exposition(self):
        with urllib.request.urlopen("http://%s/metrics" % self.metrics_address, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def metrics(self):
        return Scrape(self.exposition())


class Scrape:
    """One exposition, read."""

    def __init__(self, text):
        self.types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
        self.helps = dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.M))
        self.values = {}
        for name, labels, value in re.findall(r"^([a-z_]\w*)(?:\{(.*)\})? (\S+)$", text, re.M):
            key = name, frozenset(re.findall(r'(\w+)="([^"]*)"', labels))
            assert key not in self.values, key
            self.values[key] = float(value)

    def __call__(self, name, **labels):
        """The sum over all series of this name with these labels."""
        found = [value for (its_name, its_labels), value in self.values.items()
                 if its_name == name and frozenset(labels.items()) <= its_labels]
        if not found:
            raise KeyError((name, labels))
        return sum(found)

    def by(self, name, *labels):
        """Values that are not zero, by these labels."""
        found = collections.Counter()
        for (its_name, its_labels), value in self.values.items():
            if its_name == name and value:
                named = dict(its_labels)
                found[tuple(named[label] for label in labels)] += value
        return dict(found)


def total(scrapes):
    """One scrape with the sums of all."""
    summed = Scrape("")
    for each in scrapes:
        for key, value in each.values.items():
            summed.values[key] = summed.values.get(key, 0) + value
    return summed


def free_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % free.getsockname()[1]


def wait_for(condition):
    """Until it holds: for what happens beside the calls."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise AssertionError("it never came")
        time.sleep(0.01)


class Refusal(Exception):
    def __init__(self, code, reason):
        super().__init__("%s %s" % (code, reason))
        self.code, self.reason = code, reason


def _refusal(error):
    reason = None
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for each in status_pb2.Status.FromString(value).details:
                info = details_pb2.ErrorInfo()
                if each.Unpack(info):
                    reason = info.reason
    return Refusal(error.code(), reason)


class Client:
    """Calls by the method's name; a refused one raises Refusal."""

    def __init__(self, address, options=()):
        self.channel = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1), *options])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.channel.close()

    def call(self, method, request):
        answer = getattr(api, method + "Response")
        stub = self.channel.unary_unary("/reversi.v1.GameService/" + method,
                                        request_serializer=type(request).SerializeToString,
                                        response_deserializer=answer.FromString)
        try:
            return stub(request, timeout=PATIENCE, wait_for_ready=True)
        except grpc.RpcError as error:
            raise _refusal(error) from None

    def watch(self, request):
        stub = self.channel.unary_stream("/reversi.v1.GameService/WatchGame",
                                         request_serializer=type(request).SerializeToString,
                                         response_deserializer=api.WatchGameResponse.FromString)
        return stub(request, timeout=PATIENCE, wait_for_ready=True)
