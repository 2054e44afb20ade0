"""HTTP/2 by hand, for callers that do not keep to it."""
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header field, never indexed and not compressed."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def headers(path):
    fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
              ("te", "trailers"), ("content-type", "application/grpc")]
    return b"".join(literal(name, value) for name, value in fields)


def message(content):
    """A gRPC message, uncompressed."""
    return b"\0" + struct.pack(">I", len(content)) + content


def call(stream, path, content):
    """The frames of a call with one message."""
    return (frame(HEADERS, END_HEADERS, stream, headers(path)) + frame(DATA, END_STREAM, stream, message(content)))


def connect(address):
    host, port = address.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def greeted(address):
    """A connection on which both sides' settings were exchanged."""
    connection = connect(address)
    connection.sendall(PREFACE + frame(SETTINGS))
    connection.recv(65536)
    connection.sendall(frame(SETTINGS, 1))
    return connection
