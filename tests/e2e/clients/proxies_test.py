"""nginx and haproxy in front of the server: calls, streams and refusals pass, and a drained server loses no call.

usage: proxies_test.py <source folder> <build folder> nginx|haproxy
"""
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "tests"))

import grpc  # noqa: E402

import raw_http2 as h2  # noqa: E402
from generated import generate  # noqa: E402
from server_process import ServerProcess  # noqa: E402

HEALTH = "/grpc.health.v1.Health/Check"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Proxy:
    """A proxy with one port for each group of servers."""

    def __init__(self, folder, groups):
        self.folder = pathlib.Path(folder)
        self.ports = [free_port() for _ in groups]
        self.addresses = [f"127.0.0.1:{port}" for port in self.ports]
        self.config = self.folder / "proxy.conf"
        self.configure(groups)
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL)
        for port in self.ports:
            self.await_port(port)

    def await_port(self, port):
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise AssertionError("the proxy does not listen")

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


class Nginx(Proxy):
    def command(self):
        return ["/usr/sbin/nginx", "-p", self.folder, "-c", self.config, "-e", self.folder / "error.log"]

    def configure(self, groups):
        servers = ""
        for i, (port, group) in enumerate(zip(self.ports, groups)):
            members = "".join(f"server {address}; " for address in group)
            servers += f"""
              upstream group{i} {{ {members} }}
              server {{
                listen 127.0.0.1:{port} http2;
                location / {{
                  grpc_pass grpc://group{i};
                  grpc_next_upstream error timeout non_idempotent;
                }}
              }}"""
        temporary = " ".join(f"{kind}_temp_path {self.folder}/{kind};"
                             for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        self.config.write_text(f"""
            daemon off; worker_processes 1; pid {self.folder}/pid;
            events {{ worker_connections 1000; }}
            http {{
              access_log off; {temporary}
              grpc_read_timeout 1h; grpc_send_timeout 1h; client_body_timeout 1h; keepalive_requests 1000000;
              {servers}
            }}""")

    def take_out(self, groups):
        """nginx does not ask for health: whoever runs it takes a server out in the time that the delay gives."""
        self.configure(groups)
        subprocess.run(self.command() + ["-s", "reload"], check=True)


class Haproxy(Proxy):
    def command(self):
        return ["/usr/sbin/haproxy", "-q", "-db", "-f", self.config]

    def configure(self, groups):
        question = (h2.PREFACE + h2.frame(h2.SETTINGS) + h2.call(1, HEALTH, b"")).hex()
        serving = h2.message(b"\x08\x01").hex()
        text = """
            global
              nbthread 1
            defaults
              mode http
              timeout connect 5s
              timeout client 1h
              timeout server 1h
              retries 3
              option redispatch
              retry-on conn-failure empty-response
            """
        for i, (port, group) in enumerate(zip(self.ports, groups)):
            members = "".join(f"""
              server s{n} {address} proto h2 check check-proto none inter 100ms fall 1 rise 1"""
                              for n, address in enumerate(group))
            text += f"""
            frontend front{i}
              bind 127.0.0.1:{port} proto h2
              default_backend back{i}
            backend back{i}
              balance roundrobin
              option tcp-check
              tcp-check connect
              tcp-check send-binary {question}
              tcp-check expect binary {serving}{members}
            """
        self.config.write_text("\n".join(line.strip() for line in text.splitlines()) + "\n")

    def take_out(self, groups):
        """haproxy asks for health itself."""


def client_passes(proxy_type, folder):
    """The Python client, every call of it through the proxy: unary calls, streams, each refusal with its details."""
    server = BUILD / "reversi_server"
    with ServerProcess(server) as usual, \
            ServerProcess(server, "--max_games=1", "--max_watchers_per_game=1") as limited, \
            ServerProcess(server, "--rate_limit=0.001", "--rate_burst=1") as over_rate:
        proxy = proxy_type(folder, [[usual.address], [limited.address], [over_rate.address]])
        try:
            code = pathlib.Path(folder) / "code"
            code.mkdir()
            generate(SOURCE, code)
            client = SOURCE / "tests" / "e2e" / "clients" / "python_client.py"
            subprocess.run(["/usr/bin/python3", client, code, *proxy.addresses], check=True, timeout=120)
        finally:
            proxy.stop()


class Caller(threading.Thread):
    """Makes games, one after the other, until told to stop; every failure is kept."""

    def __init__(self, address):
        super().__init__()
        self.served, self.failures, self.stopping = 0, [], False
        self._channel = grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        self.start()

    def run(self):
        create = self._channel.unary_unary("/reversi.v1.GameService/CreateGame")
        while not self.stopping:
            try:
                create(b"", timeout=60)
                self.served += 1
            except grpc.RpcError as error:
                self.failures.append(error)


def await_more_calls(callers):
    """Every caller is served some times more."""
    marks = [caller.served + 20 for caller in callers]
    end = time.monotonic() + 60
    while any(caller.served < mark and not caller.failures for caller, mark in zip(callers, marks)):
        assert time.monotonic() < end, "nobody is served"
        time.sleep(0.01)


def drained_server_loses_no_call(proxy_type, folder):
    server = BUILD / "reversi_server"
    with ServerProcess(server) as stays, ServerProcess(server, "--drain_delay=3s") as goes:
        proxy = proxy_type(folder, [[stays.address, goes.address]])
        callers = [Caller(proxy.addresses[0]) for _ in range(4)]
        try:
            await_more_calls(callers)
            goes.process.terminate()
            health = grpc.insecure_channel(goes.address).unary_unary(HEALTH)
            while health(b"", timeout=60) == b"\x08\x01":
                time.sleep(0.01)
            proxy.take_out([[stays.address]])
            assert goes.process.wait(60) == 0
            await_more_calls(callers)
        finally:
            for caller in callers:
                caller.stopping = True
            for caller in callers:
                caller.join()
            proxy.stop()
    print(sum(caller.served for caller in callers), "calls served")
    failures = [failure for caller in callers for failure in caller.failures]
    assert not failures, failures


def main():
    proxy_type = {"nginx": Nginx, "haproxy": Haproxy}[sys.argv[3]]
    for test in (client_passes, drained_server_loses_no_call):
        with tempfile.TemporaryDirectory() as folder:
            test(proxy_type, folder)


main()
