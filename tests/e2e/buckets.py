"""A server for S3 with a bucket, for tests: s3rver, which checks signatures, and the fault proxy in front of it; or
Ceph's radosgw."""
import datetime
import hashlib
import hmac
import http.client
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse
import xml.etree.ElementTree

SERVICES = pathlib.Path(__file__).resolve().parent.parent / "services"
BUCKET = "corpora"


def start(*words):
    process = subprocess.Popen([sys.executable, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    return process, int(process.stdout.readline())


class Busy(Exception):
    """The server failed, and a client may try again."""


class Bucket:
    """A bucket of the server at a port of this machine. Programs reach it at `public_port`."""

    def __init__(self, port, public_port):
        self.port, self.public_port = port, public_port

    def environment(self):
        """The environment of programs that use the bucket."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {**plain, "AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER", "HOME": "/nonexistent",
                "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{self.public_port}"}

    def put(self, key, content):
        self.request("PUT", key, {}, content)

    def get(self, key):
        """Nothing if there is no such object."""
        end = time.monotonic() + 600
        while True:
            try:
                return self.request("GET", key, {}, b"", missing=True)
            except (http.client.IncompleteRead, Busy):
                # This server's objects are files: it was replaced while it was read.
                if time.monotonic() > end:
                    raise

    def remove(self, key):
        self.request("DELETE", key, {}, b"")

    def list(self, prefix=""):
        """The keys that begin with the prefix; there are fewer than a thousand."""
        page = xml.etree.ElementTree.fromstring(self.request("GET", "", {"list-type": "2", "prefix": prefix}, b""))
        return [element.text for element in page.iter() if element.tag.endswith("Key")]

    def request(self, method, key, query, body, missing=False):
        """A signed request directly to the server."""
        path = urllib.parse.quote(f"/{BUCKET}/{key}" if key else f"/{BUCKET}")
        text = urllib.parse.urlencode(sorted(query.items()), quote_via=urllib.parse.quote)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request(method, path + ("?" + text if text else ""), body,
                           signed(method, path, text, body, f"127.0.0.1:{self.port}"))
        answer = connection.getresponse()
        content = answer.read()
        if missing and answer.status == 404:
            return None
        if answer.status == 500:
            raise Busy(f"{method} {key}: {content[:200]}")
        assert answer.status // 100 == 2, f"{method} {key}: {answer.status} {content[:200]}"
        return content


class Server(Bucket):
    """A bucket of s3rver behind the fault proxy. Use it in a with statement."""

    def __init__(self, faults=""):
        self.server, port = start(SERVICES / "serve.py", "s3rver", BUCKET)
        self.proxy, proxy_port = start(SERVICES / "proxy.py", "s3", port, "--faults", faults)
        super().__init__(port, proxy_port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.proxy, self.server):
            process.stdin.close()
            process.wait()


def signed(method, path, query, body, host):
    """Headers with a signature of version 4."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(body).hexdigest()
    names = "host;x-amz-content-sha256;x-amz-date"
    request = "\n".join([method, path, query, f"host:{host}", f"x-amz-content-sha256:{digest}", f"x-amz-date:{now}",
                         "", names, digest])
    scope = f"{now[:8]}/us-east-1/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = b"AWS4S3RVER"
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return {"Host": host, "x-amz-content-sha256": digest, "x-amz-date": now,
            "Authorization": f"AWS4-HMAC-SHA256 Credential=S3RVER/{scope}, SignedHeaders={names}, "
                             f"Signature={signature}"}
