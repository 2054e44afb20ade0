"""What cannot be used at the start: a clear message, exit code 2, no crash.

usage: start_failure_test.py SERVER_BINARY
"""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

SERVER = sys.argv.pop()


class StartFailures(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def file(self, name, text):
        path = self.place / name
        path.write_text(text)
        return str(path)

    def refused(self, *flags, naming, why=""):
        done = subprocess.run([SERVER, "--listen=127.0.0.1:0", "--metrics_listen=127.0.0.1:0", *flags],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(naming, done.stderr)
        self.assertIn(why, done.stderr)
        self.assertNotIn("listening", done.stdout)
        # A sentence for the operator, not a trace.
        self.assertLessEqual(len([line for line in done.stderr.splitlines() if not line.startswith("{")]), 3, done.stderr)

    def taken(self):
        holder = socket.socket()
        self.addCleanup(holder.close)
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        return "127.0.0.1:%d" % holder.getsockname()[1]

    def test_a_taken_port_for_metrics(self):
        address = self.taken()
        self.refused("--metrics_listen=" + address, naming=address)

    def test_a_taken_port_for_calls(self):
        address = self.taken()
        self.refused("--listen=" + address, naming=address)

    def test_a_token_key_that_is_not_there(self):
        path = str(self.place / "absent")
        self.refused("--token_key_file=" + path, naming=path)

    def test_a_token_key_that_is_a_folder(self):
        self.refused("--token_key_file=%s" % self.place, naming=str(self.place))

    def test_a_token_key_that_is_too_short(self):
        path = self.file("short", "x" * 31)
        self.refused("--token_key_file=" + path, naming=path)

    def test_files_that_never_end_or_wait_for_a_writer(self):
        key, fifo, large = self.file("token_key", "k" * 40), str(self.place / "fifo"), self.file("large", "k" * (2 ** 20 + 1))
        os.mkfifo(fifo)
        etcd = ["--store=etcd", "--etcd_endpoints=127.0.0.1:1", "--token_key_file=" + key]
        for flag, others in (("--token_key_file", []), ("--tls_cert_file", ["--tls_key_file=" + key]),
                             ("--etcd_ca_file", etcd), ("--etcd_password_file", [*etcd, "--etcd_user=reversi"])):
            for path, why in (("/dev/zero", "not a regular file"), (fifo, "not a regular file"),
                              (large, "more than 1048576 bytes")):
                with self.subTest(flag=flag, path=path):
                    self.refused(*others, "%s=%s" % (flag, path), naming="%s=%s cannot be read: it " % (flag, path), why=why)

    def test_a_certificate_that_is_not_there(self):
        key, absent = self.file("key", "x"), str(self.place / "absent")
        self.refused("--tls_cert_file=" + absent, "--tls_key_file=" + key, naming=absent)

    def test_a_private_key_that_is_not_there(self):
        certificate, absent = str(self.place / "certificate"), str(self.place / "absent")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                        "/CN=reversi", "-keyout", "/dev/null", "-out", certificate], check=True, capture_output=True)
        self.refused("--tls_cert_file=" + certificate, "--tls_key_file=" + absent, naming=absent)

    def test_a_certificate_that_is_none(self):
        certificate, key = self.file("certificate", "x"), self.file("key", "x")
        self.refused("--tls_cert_file=" + certificate, "--tls_key_file=" + key, naming=certificate)

    def test_a_port_for_health_that_is_taken(self):
        address = self.taken()
        self.refused("--health_listen=" + address, naming=address)

    def test_a_data_folder_that_cannot_be_written(self):
        key = self.file("token_key", "k" * 40)
        folder = self.file("file", "") + "/games"
        self.refused("--store=disk", "--data_dir=" + folder, "--token_key_file=" + key, naming=folder)

    def test_an_authority_of_etcd_that_is_none(self):
        key, authority = self.file("token_key", "k" * 40), self.file("authority", "no certificate")
        self.refused("--store=etcd", "--etcd_endpoints=127.0.0.1:1", "--etcd_ca_file=" + authority,
                     "--token_key_file=" + key, naming=authority + " holds no certificate in PEM")

    def test_a_durable_store_without_a_token_key(self):
        self.refused("--store=disk", "--data_dir=%s/games" % self.place, naming="token")


if __name__ == "__main__":
    unittest.main()
