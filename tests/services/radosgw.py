#!/usr/bin/env python3
"""Starts Ceph's radosgw, with one monitor and one OSD in memory, and prints its port on 127.0.0.1. Its S3 has a user with
the keys S3RVER and S3RVER. Stops it all when the input ends.

usage: radosgw.py

Debian's packages radosgw, ceph-mon and ceph-osd must be installed, or unpacked (dpkg -x) into the folder that
KINDRED_CEPH names. Without them it ends with status 77.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from serve import answers, free_port

UNPACKED = os.environ.get("KINDRED_CEPH", "")
LIBRARIES = f"{UNPACKED}/usr/lib/x86_64-linux-gnu"
if UNPACKED:
    os.environ["PATH"] = f"{UNPACKED}/usr/bin:{os.environ['PATH']}"
    os.environ["LD_LIBRARY_PATH"] = ":".join([LIBRARIES, f"{LIBRARIES}/ceph", f"{UNPACKED}/usr/lib", f"{UNPACKED}/usr/lib/ceph",
                                              f"{UNPACKED}/lib/x86_64-linux-gnu"])
    os.environ["PYTHONPATH"] = f"{UNPACKED}/usr/lib/python3/dist-packages"


def configuration(folder, monitor, gateway):
    return f"""[global]
fsid = {uuid.uuid4()}
mon host = [v2:127.0.0.1:{monitor[0]},v1:127.0.0.1:{monitor[1]}]
mon initial members = a
run dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
crash dir = {folder}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
mon allow pool size one = true
mon max pg per osd = 1000
mon data avail crit = 1
mon data = {folder}/mon
osd data = {folder}/osd
keyring = {folder}/keyring
osd objectstore = memstore
memstore device bytes = 1G
plugin dir = {LIBRARIES}/ceph
erasure code dir = {LIBRARIES}/ceph/erasure-code
osd class dir = {LIBRARIES}/rados-classes
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:{gateway}
"""


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def start(folder, daemons):
    """Starts the daemons; the port of the gateway."""
    ports = [free_port() for _ in range(3)]
    conf = folder / "ceph.conf"
    conf.write_text(configuration(folder, ports[:2], ports[2]))
    for part in ("mon", "osd"):
        (folder / part).mkdir()
    keyring = folder / "keyring"
    run("ceph-authtool", "--create-keyring", keyring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
    for name, caps in (("client.admin", ("mon", "osd", "mgr")), ("client.rgw", ("mon", "osd"))):
        run("ceph-authtool", keyring, "--gen-key", "-n", name, *(word for cap in caps for word in ("--cap", cap, "allow *")))
    run("monmaptool", "--create", "--fsid", run("ceph-conf", "-c", conf, "--lookup", "fsid").strip(), "--addv", "a",
        f"[v2:127.0.0.1:{ports[0]},v1:127.0.0.1:{ports[1]}]", folder / "monmap")

    def daemon(*words):
        daemons.append(subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    run("ceph-mon", "-c", conf, "--mkfs", "-i", "a", "--monmap", folder / "monmap", "--keyring", keyring)
    daemon("ceph-mon", "-f", "-c", conf, "-i", "a")
    osd, key = str(uuid.uuid4()), run("ceph-authtool", "--gen-print-key").strip()
    (folder / "osd.json").write_text(json.dumps({"cephx_secret": key}))
    run("ceph", "-c", conf, "osd", "new", osd, "-i", folder / "osd.json")
    run("ceph-osd", "-c", conf, "-i", "0", "--mkfs", "--key", key, "--osd-uuid", osd)
    run("ceph-authtool", "--create-keyring", folder / "osd/keyring", "--name", "osd.0", "--add-key", key)
    run("ceph", "-c", conf, "auth", "import", "-i", keyring)
    run("ceph", "-c", conf, "osd", "crush", "add", "osd.0", "1.0", "root=default", "host=here")
    daemon("ceph-osd", "-f", "-c", conf, "-i", "0", "--keyring", folder / "osd/keyring")
    daemon("radosgw", "-f", "-c", conf, "-n", "client.rgw")
    while not answers(ports[2]):
        if any(one.poll() is not None for one in daemons):
            raise SystemExit("radosgw.py: a daemon of Ceph ended: " + "; ".join(
                log.read_text()[-300:] for log in folder.glob("*.log")))
        time.sleep(0.1)
    run("radosgw-admin", "-c", conf, "-n", "client.rgw", "user", "create", "--uid=test", "--display-name=test",
        "--access-key=S3RVER", "--secret-key=S3RVER")
    return ports[2]


def main():
    if not shutil.which("radosgw"):
        print("radosgw.py: radosgw is not installed", file=sys.stderr)
        sys.exit(77)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as serve.py
    daemons = []
    with tempfile.TemporaryDirectory() as name:
        try:
            print(start(pathlib.Path(name), daemons), flush=True)
            sys.stdin.buffer.read()
        finally:
            for one in daemons:
                one.kill()
            for one in daemons:
                one.wait()


if __name__ == "__main__":
    main()
