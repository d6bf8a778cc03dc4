"""A webhook receiver that verifies signatures: WEBHOOK_SECRET=whsec_... python3 verify.py 8081"""
import base64
import hashlib
import hmac
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]
TOLERANCE_SECONDS = 300


def verify(headers, body):
    """X-Service-Signature: hex, keyed with the whole secret, over the raw bytes of the body."""
    expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(headers.get("X-Service-Signature", "").encode(), expected.encode())


def verify_standard(headers, body):
    """webhook-signature (Standard Webhooks): also covers the timestamp, and works while a secret is rotated."""
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = f"{headers.get('webhook-id', '')}.{timestamp}.".encode() + body
    mac = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(each, b"v1," + mac) for each in given)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        genuine = verify(self.headers, body) and verify_standard(self.headers, body)
        self.send_response(204 if genuine else 401)
        self.end_headers()
        if genuine:
            print(self.headers["X-Service-Event"], body.decode(), flush=True)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8081), Receiver)
print("listening", flush=True)
server.serve_forever()
