#!/usr/bin/env python3
"""Answers one PostgreSQL client after the other as a server of a given version would, and nothing else.

Usage: old_server.py PORT VERSION
"""
import socket
import struct
import sys


def message(kind, body):
    return kind + struct.pack("!i", len(body) + 4) + body


def serve(connection, version):
    while True:
        head = connection.recv(8)
        if len(head) < 8:
            return
        length, code = struct.unpack("!ii", head)
        connection.recv(length - 8)
        if code in (80877103, 80877104):  # SSL or GSS encryption: no
            connection.sendall(b"N")
            continue
        break
    connection.sendall(message(b"R", struct.pack("!i", 0)) +
                       message(b"S", b"server_version\0" + version.encode() + b"\0") +
                       message(b"K", struct.pack("!ii", 1, 1)) + message(b"Z", b"I"))
    connection.recv(1024)


def main():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(sys.argv[1])))
    listener.listen()
    print("listening", flush=True)
    while True:
        connection, _ = listener.accept()
        with connection:
            serve(connection, sys.argv[2])


if __name__ == "__main__":
    main()
