#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memcached_client.py PORT: four connections at once set, get, add to and delete keys; ends with `shutdown`."""
import socket
import sys
import threading
import time

PORT = int(sys.argv[1])
ROUNDS = 400
wrong = []


def connect():
    for _ in range(1200):  # the server needs a moment to listen
        try:
            return socket.create_connection(("127.0.0.1", PORT), timeout=120)
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise SystemExit("memcached does not listen")


def ask(stream, request, end):
    stream.write(request)
    stream.flush()
    answer = b""
    while not answer.endswith(end):
        line = stream.readline()
        if not line:
            raise ConnectionError("closed")
        answer += line
        if line.startswith((b"ERROR", b"CLIENT_ERROR", b"SERVER_ERROR")):
            break
    return answer


def session(number):
    try:
        stream = connect().makefile("rwb")
        for i in range(ROUNDS):
            key, value = b"key-%d-%d" % (number, i % 50), b"value-%d" % i * (i % 40 + 1)
            ask(stream, b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value), b"\r\n")
            got = ask(stream, b"get %s\r\n" % key, b"END\r\n")
            if value not in got:
                wrong.append((key, got))
            ask(stream, b"incr shared 1\r\n", b"\r\n")
            if i % 7 == 0:
                ask(stream, b"delete %s\r\n" % key, b"\r\n")
    except Exception as error:  # told to the main thread
        wrong.append(repr(error))


main = connect().makefile("rwb")
ask(main, b"set shared 0 0 1\r\n0\r\n", b"\r\n")
threads = [threading.Thread(target=session, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
total = ask(main, b"get shared\r\n", b"END\r\n").split(b"\r\n")[1]
if int(total) != 4 * ROUNDS:
    wrong.append(f"shared is {total}, expected {4 * ROUNDS}")
main.write(b"shutdown\r\n")
main.flush()
print("memcached:", wrong[:3] if wrong else f"{4 * ROUNDS} rounds right")
sys.exit(1 if wrong else 0)
