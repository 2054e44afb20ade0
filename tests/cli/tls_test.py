"""The terminal client over TLS, with and without the right certificates.

usage: tls_test.py <build folder> [unittest arguments]
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from server_process import ServerProcess  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
CLIENT = str(BUILD / "reversi")


class TlsTest(unittest.TestCase):
    """Against a server that demands client certificates."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.certificate("ca", "req", "-x509")
        for name in ("server", "client"):
            self.certificate(name, "req", "-x509", "-CA", "ca.pem", "-CAkey", "ca.key",
                             "-addext", f"subjectAltName=DNS:{name}.test")
        server = ServerProcess(str(BUILD / "reversi_server"), "--tls_cert_file", str(self.folder / "server.pem"),
                               "--tls_key_file", str(self.folder / "server.key"),
                               "--tls_client_ca_file", str(self.folder / "ca.pem"))
        self.address = server.__enter__().address
        self.addCleanup(server.__exit__)

    def certificate(self, name, *words):
        subprocess.run(["openssl", *words, "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem"],
                       cwd=self.folder, check=True, capture_output=True)

    def variants(self, *words):
        return subprocess.run([CLIENT, "variants", "--server", self.address, *words], capture_output=True, text=True,
                              timeout=60, cwd=self.folder)

    def test_a_client_certificate_opens_and_its_lack_is_told(self):
        ours = ["--tls_cert", "client.pem", "--tls_key", "client.key"]
        known = ["--tls_ca", "ca.pem", "--tls_name", "server.test"]
        done = self.variants(*known, *ours)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in (known, ours, ["--tls_ca", "ca.pem", "--tls_name", "other.test", *ours], []):
            with self.subTest(words=words):
                done = self.variants(*words)
                self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("no agreement on TLS", self.variants(*ours).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
