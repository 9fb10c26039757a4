"""Measure encoding and loading of ours and of Python `tokenizers` in one run: same documents, one core,
interleaved, processor time, medians.

    python speed.py TEXT FILE… [--rounds 5]

TEXT is a file of about 2 MB; it is cut into documents of some 4,000 characters. Every round of ours starts with an empty cache (cold). Run from the
repository root; needs the go command.
"""
import argparse
import os
import re
import statistics
import subprocess
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402


def documents(text):
    out = []
    while len(text) > 4500:
        i = text.find("\n", 4000)
        if i < 0:
            break
        out.append(text[: i + 1])
        text = text[i + 1 :]
    return out + [text]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("text")
    a.add_argument("files", nargs="+")
    a.add_argument("--rounds", type=int, default=5)
    o = a.parse_args()
    text = open(o.text, encoding="utf-8").read()
    docs = documents(text)
    size = len(text.encode())
    env = dict(os.environ, SERVEMARK_BENCH_TEXT=os.path.abspath(o.text), GOMAXPROCS="1")
    subprocess.run(["go", "test", "-c", "-o", "speed.test", "./tokenizer"], check=True)
    print(f"{'tokenizer':16} {'HF MB/s':>8} {'ours cold':>10} {'warm':>7} {'cold/HF':>8} {'HF load ms':>11} {'ours':>7}")
    for path in o.files:
        rows = {"hf": [], "cold": [], "warm": [], "hfload": [], "load": []}
        env["SERVEMARK_BENCH_FILE"] = os.path.abspath(path)
        for _ in range(o.rounds):
            t0 = time.process_time()
            ref = Tokenizer.from_file(path)
            rows["hfload"].append((time.process_time() - t0) * 1e3)
            ref.no_truncation()
            ref.no_padding()
            t0 = time.process_time()
            for d in docs:
                ref.encode(d, add_special_tokens=False)
            rows["hf"].append(size / (time.process_time() - t0) / 1e6)
            out = subprocess.run(
                [os.path.abspath("speed.test"), "-test.run", "none", "-test.bench", "One", "-test.benchtime", "3x"],
                env=env, cwd="tokenizer", capture_output=True, text=True, check=True,
            ).stdout
            took = {k: float(re.search(rf"One/{k}\S*\s.*?([\d.]+) cpu-ms", out)[1]) for k in ("cold", "warm", "load")}
            rows["cold"].append(size / took["cold"] / 1e3)
            rows["warm"].append(size / took["warm"] / 1e3)
            rows["load"].append(took["load"])
        m = {k: statistics.median(v) for k, v in rows.items()}
        name = os.path.basename(path).removesuffix(".json")
        print(f"{name:16} {m['hf']:8.2f} {m['cold']:10.1f} {m['warm']:7.1f} {m['cold'] / m['hf']:8.1f} {m['hfload']:11.0f} {m['load']:7.0f}", flush=True)
    os.remove("speed.test")


if __name__ == "__main__":
    main()
