"""etcd nodes of a test's own on loopback, flagged as the runbook has it."""
import contextlib
import os
import pathlib
import socket
import subprocess
import time

FLAGS = ("--snapshot-count=1000", "--quota-backend-bytes=8589934592", "--auto-compaction-retention=5m", "--logger=zap")


def free_addresses(count):
    with contextlib.ExitStack() as taken:
        listeners = [taken.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return ["127.0.0.1:%d" % each.getsockname()[1] for each in listeners]


class EtcdNodes:
    """`with EtcdNodes(folder) as etcd:` has them running and takes writes. Data of node i in folder/etcd-i, made if it is
    not there; killed at the end. Later flags win."""

    def __init__(self, folder, *flags, nodes=3):
        self.folder = pathlib.Path(folder)
        self.flags = flags
        free = free_addresses(2 * nodes)
        self.addresses, self.peers = free[:nodes], free[nodes:]
        self.cluster = ",".join(f"n{i}=http://{peer}" for i, peer in enumerate(self.peers))
        self.processes = [None] * nodes

    def start(self, node, *flags):
        client, peer = "http://" + self.addresses[node], "http://" + self.peers[node]
        with open(self.folder / f"etcd-{node}.log", "ab") as log:
            self.processes[node] = subprocess.Popen(
                ["etcd", f"--name=n{node}", f"--data-dir={self.folder}/etcd-{node}", f"--listen-client-urls={client}",
                 f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
                 f"--initial-cluster={self.cluster}", *FLAGS, *self.flags, *flags],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self, node):
        if self.processes[node] is not None:
            self.processes[node].kill()
            self.processes[node].wait()
            self.processes[node] = None

    def endpoints(self, first=0):
        """All nodes, this one first."""
        return ",".join(self.addresses[first:] + self.addresses[:first])

    def environment(self):
        """What etcdctl takes its settings from."""
        return dict(os.environ, ETCDCTL_API="3", ETCDCTL_ENDPOINTS=self.endpoints())

    def wait(self):
        """Until all are healthy; after a minute, an error."""
        until = time.monotonic() + 60
        while self.ctl("endpoint", "health").returncode != 0:
            if time.monotonic() > until:
                raise RuntimeError("etcd did not start: " + (self.folder / "etcd-0.log").read_text()[-2000:])
            time.sleep(0.1)

    def ctl(self, *words):
        return subprocess.run(["etcdctl", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env=self.environment())

    def __enter__(self):
        try:
            for node in range(len(self.processes)):
                self.start(node)
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in range(len(self.processes)):
            self.kill(node)
