#!/usr/bin/env python3
"""The tests of stores and datasets in S3 with Ceph's radosgw instead of s3rver: it checks signatures and payloads, and
honours If-None-Match by itself. Without radosgw (see tests/services/radosgw.py) there is nothing to do.

usage: radosgw_test.py KINDRED [FILTER]
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import buckets
import s3_datasets_test as datasets

SERVICES = pathlib.Path(__file__).resolve().parent.parent / "services"
# Tests with a thousand requests are left out: they take minutes, and test our own code only.
FILTER = "S3*:SegmentTableTest.*:-*FindsSimHashesUpTo*:*LeavesNothingHalfVisible"


def test_datasets(kindred, folder, port):
    """The outputs of dedup in the bucket are those on disk, also after kills."""
    bucket = buckets.Bucket(port, port)
    bucket.request("PUT", "", {}, b"")
    machine = datasets.Machine(str(kindred), folder, bucket)
    datasets.make_corpus(machine)
    datasets.compare_formats(machine)
    (folder / "small").mkdir()
    datasets.refuse(machine)
    datasets.look_at(machine)
    killed = datasets.kill(machine, 4)
    datasets.notice_changes(machine)
    print(f"radosgw: the same outputs as on disk; {killed} kills")


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    with subprocess.Popen([sys.executable, SERVICES / "radosgw.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as server, tempfile.TemporaryDirectory() as name:
        line = server.stdout.readline()
        if not line:
            assert server.wait() == 77, "radosgw did not start"
            print("radosgw is not installed: nothing was tested")
            return
        endpoint = f"http://127.0.0.1:{int(line)}"
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER",
                       "KINDRED_TEST_S3": endpoint}
        config = pathlib.Path(name) / "kindred.yaml"
        config.write_text("global_fingerprints:\n  backend: s3\n"
                          f"  storage: {{bucket: bucket, endpoint: '{endpoint}'}}\n")
        try:
            subprocess.run([kindred, "store", "create", "--config", config], check=True, env=environment)
            subprocess.run([kindred.parent / "kin_store_service_test",
                            f"--gtest_filter={sys.argv[2] if len(sys.argv) > 2 else FILTER}"],
                           check=True, env=environment)
            folder = pathlib.Path(name) / "datasets"
            folder.mkdir()
            test_datasets(kindred, folder, int(line))
        finally:
            server.stdin.close()


if __name__ == "__main__":
    main()
