"""The terminal client over TLS, with and without the right certificates.

usage: tls_test.py <build folder> [unittest arguments]
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile
import unittest

import grpc

CLIENT = str(pathlib.Path(sys.argv[1]).resolve() / "reversi")


class TlsTest(unittest.TestCase):
    """Against a server of Python's gRPC that knows one method and demands client certificates."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.certificate("ca", "req", "-x509")
        for name in ("server", "client"):
            self.certificate(name, "req", "-x509", "-CA", "ca.pem", "-CAkey", "ca.key",
                             "-addext", f"subjectAltName=DNS:{name}.test")
        read = {name: (self.folder / name).read_bytes() for name in ("server.key", "server.pem", "ca.pem")}
        credentials = grpc.ssl_server_credentials([(read["server.key"], read["server.pem"])], read["ca.pem"], True)
        answer = grpc.unary_unary_rpc_method_handler(lambda request, context: b"")
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
        server.add_generic_rpc_handlers([
            grpc.method_handlers_generic_handler("reversi.v1.GameService", {"ListVariants": answer})])
        self.address = f"127.0.0.1:{server.add_secure_port('127.0.0.1:0', credentials)}"
        server.start()
        self.addCleanup(lambda: server.stop(None).wait())

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
        self.assertEqual(self.variants(*known, *ours).returncode, 0)
        for words in (known, ours, ["--tls_ca", "ca.pem", "--tls_name", "other.test", *ours], []):
            with self.subTest(words=words):
                done = self.variants(*words)
                self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("no agreement on TLS", self.variants(*ours).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
