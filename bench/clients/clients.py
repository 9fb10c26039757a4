#!/usr/bin/env python3
"""Measures load clients side by side against a truth server, in interleaved rounds, and prints medians.

The truth server (TRUTH, a command) answers /v1/chat/completions with exact pacing and tells what it really did:
  GET /reset, GET /set?ttft_us=&itl_us=&tokens=&coalesce=, GET /stats (JSON: ttft, itl, late with p50_us … p999_us, tok_s).
It runs on one core and each client on another, in the real-time class where that is permitted.

Peers (PEERS, a file; optional) are lines NAME=COMMAND; {url}, {c}, {n}, {tokens} and {prompts} (a JSONL file of chat prompts)
are filled in, and the figures are read from the block of "Median TTFT (ms):" lines that these clients print.
"""
import argparse, json, os, re, resource, shlex, statistics, subprocess, sys, tempfile, time, urllib.request

FIGURES = {"ttft50": r"^Median TTFT \(ms\):\s+([\d.]+)", "ttft99": r"^P99 TTFT \(ms\):\s+([\d.]+)",
           "itl50": r"^Median ITL \(ms\):\s+([\d.]+)", "itl99": r"^P99 ITL \(ms\):\s+([\d.]+)",
           "rate": r"^Output token throughput \(tok/s\):\s+([\d.]+)",
           "lag99": r"^Receive Lag, p99 \(ms\):\s+([\d.]+)", "merged": r"^Events merged by reading late \(%\):\s+([\d.]+)",
           "verdict": r"^Verdict:\s+(\w+)"}


class Truth:
    """The truth server's process and its routes."""

    def __init__(self, command, port, pin):
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(pin + shlex.split(command) + ["-port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(50):
            try:
                self.get("/reset")
                return
            except OSError:
                time.sleep(0.1)
        sys.exit("the truth server does not answer; is TRUTH its command line?")

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as r:
            return r.read()

    def set(self, ttft_us, itl_us, tokens, coalesce=1):
        self.get(f"/set?ttft_us={ttft_us}&itl_us={itl_us}&tokens={tokens}&coalesce={coalesce}")
        self.get("/reset")

    def stats(self):
        return json.loads(self.get("/stats"))


def pinning(core):
    """The words before a command that keep it on one core, and ahead of others where that is permitted."""
    words = ["taskset", "-c", str(core)]
    if subprocess.run(["chrt", "-r", "20", "true"], capture_output=True).returncode == 0:
        words = ["chrt", "-r", "20"] + words
    return words


def client(command, pin):
    """Runs a client; returns its output, its CPU seconds and its peak memory in MB."""
    with tempfile.TemporaryFile("w+") as out:
        p = subprocess.Popen(pin + command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, "HF_HUB_OFFLINE": "1"})
        _, status, use = os.wait4(p.pid, 0)
        p.returncode = status
        out.seek(0)
        text = out.read()
    return text, use.ru_utime + use.ru_stime, use.ru_maxrss / 1e3 * 1.024


def figures(text):
    found = {k: re.findall(pattern, text, re.M) for k, pattern in FIGURES.items()}
    return {k: (v[0] if k == "verdict" else float(v[0])) for k, v in found.items() if v}


def ours(binary, url, c, n, tokens, more=()):
    return [binary, "run", url, "--concurrency", str(c), "--requests", str(n), "--input-tokens", "64", "--output-tokens", str(tokens),
            "--no-progress", "--journal", "-", *more]


def clients(o, c, n, tokens):
    yield "servemark", ours(o.binary, o.url, c, n, tokens)
    for line in open(o.peers) if o.peers else ():
        if "=" in line and not line.startswith("#"):
            name, command = line.strip().split("=", 1)
            yield name, [w.format(url=o.url, c=c, n=n, tokens=tokens, prompts=o.prompts) for w in shlex.split(command)]


def median(rows, key):
    values = [r[key] for r in rows if key in r]
    return statistics.median(values) if values else float("nan")


def shortfall(f, t, c, tokens):
    """The reported token rate against that of c streams which are always full, in percent: start, end and late refills show in it."""
    return 100 * (f["rate"] / (c * tokens / (t["e2e"]["p50_us"] / 1e6)) - 1)


def told(rows, scale=1):
    """Median and range of what the rows hold."""
    return f"{statistics.median(rows)*scale:.2f} [{min(rows)*scale:.2f} … {max(rows)*scale:.2f}]" if rows else "–"


def paced(o, truth):
    """TTFT 100 ms, ITL 20 ms, 128 tokens, two waves of requests: what is reported against what was."""
    print("\n| client | streams | TTFT p50 error ms | TTFT p99 error ms | ITL p50 error ms | ITL p99 error ms | rate, of full streams % | CPU s | peak RSS MB | truth late p99 ms | verdicts |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for c in o.streams:
        rows = {}
        for _ in range(o.rounds):
            for name, command in clients(o, c, 2 * c, 128):
                truth.set(100000, 20000, 128)
                text, cpu, rss = client(command, o.pin)
                f, t = figures(text), truth.stats()
                if "ttft50" not in f:
                    print(f"{name} at {c}: no figures:\n{text[-800:]}", file=sys.stderr)
                    continue
                rows.setdefault(name, []).append({
                    "ttft50": f["ttft50"] - t["ttft"]["p50_us"] / 1e3, "ttft99": f["ttft99"] - t["ttft"]["p99_us"] / 1e3,
                    "itl50": f["itl50"] - t["itl"]["p50_us"] / 1e3, "itl99": f["itl99"] - t["itl"]["p99_us"] / 1e3,
                    "rate": shortfall(f, t, c, 128), "cpu": cpu, "rss": rss, "verdict": f.get("verdict", ""), "late": t["late"]["p99_us"] / 1e3})
        for name, r in rows.items():
            print(f"| {name} | {c} | " + " | ".join(told([x[k] for x in r]) for k in
                  ("ttft50", "ttft99", "itl50", "itl99", "rate")) + f" | {median(r,'cpu'):.1f} | {median(r,'rss'):.0f} | {median(r,'late'):.2f} | {' '.join(x['verdict'] for x in r)} |", flush=True)


def flood(o, truth):
    """No pauses, 64 streams of 1,000 tokens, 16 events a write (and 1)."""
    print("\n| client | events a write | reported events/s |\n|---|---|---|")
    for coalesce in (16, 1):
        rows = {}
        for _ in range(o.rounds):
            for name, command in clients(o, 64, 256, 1000):
                truth.set(0, 0, 1000, coalesce)
                text, _, _ = client(command, o.pin)
                f = figures(text)
                if "rate" in f:
                    rows.setdefault(name, []).append(f["rate"])
        for name, r in rows.items():
            print(f"| {name} | {coalesce} | {told(r, 1e-3)} k |", flush=True)


def start(o, truth):
    """From exec to the first request, without and with a tokenizer."""
    print("\n| start | ms to the first request |\n|---|---|")
    for name, more in (("no tokenizer", []), ("tokenizer " + os.path.basename(o.tokenizer or ""), ["--tokenizer", o.tokenizer] if o.tokenizer else None)):
        if more is None:
            continue
        took = []
        for _ in range(o.rounds):
            truth.set(1000, 1000, 2)
            begun = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            client(ours(o.binary, o.url, 1, 1, 2, ["--warmup", "0", "--ready-timeout", "0", *more]), o.pin)
            took.append((truth.stats()["t_first_req_mono"] - begun) / 1e6)
        print(f"| {name} | {told(took)} |", flush=True)


def overload(o, truth):
    """Loads below and above what one core reads: does the verdict turn before the figures are wrong by more than 5 %?"""
    print("\n| streams | ITL ms | worst figure | error % | receive lag p99 ms | merged % | verdict | judgement |\n|---|---|---|---|---|---|---|---|")
    counts = {}
    for c in (64, 256, 1024, 2048):
        for itl_ms in (40, 20, 10, 5):
            truth.set(100000, itl_ms * 1000, 64)
            text, _, _ = client(ours(o.binary, o.url, c, 2 * c, 64), o.pin)
            f, t = figures(text), truth.stats()
            errors = {"TTFT p50": f["ttft50"] / (t["ttft"]["p50_us"] / 1e3) - 1, "TTFT p99": f["ttft99"] / (t["ttft"]["p99_us"] / 1e3) - 1,
                      "ITL p50": f["itl50"] / (t["itl"]["p50_us"] / 1e3) - 1, "ITL p99": f["itl99"] / (t["itl"]["p99_us"] / 1e3) - 1,
                      "rate": shortfall(f, t, c, 64) / 100}
            worst = max(errors, key=lambda k: abs(errors[k]))
            wrong, turned = abs(errors[worst]) > 0.05, f["verdict"] != "VALID"
            judgement = {(True, True): "seen", (True, False): "MISSED", (False, True): "false alarm", (False, False): "right"}[wrong, turned]
            counts[judgement] = counts.get(judgement, 0) + 1
            if judgement in ("MISSED", "false alarm"):
                print("  " + (re.findall(r"^  - (.*)", text, re.M) or ["no cause"])[0], errors, file=sys.stderr)
            print(f"| {c} | {itl_ms} | {worst} | {100*errors[worst]:+.1f} | {f.get('lag99', float('nan')):.2f} | {f.get('merged', 0):.2f} | {f['verdict']} | {judgement} |", flush=True)
    print("\n" + ", ".join(f"{v} {k}" for k, v in counts.items()))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", nargs="+", choices=["paced", "flood", "start", "overload"])
    p.add_argument("--binary", default="./servemark")
    p.add_argument("--truth", required=True, help="command of the truth server")
    p.add_argument("--peers", help="file of NAME=COMMAND lines")
    p.add_argument("--prompts", default="", help="prompts file for peers")
    p.add_argument("--tokenizer", help="for the start-up figure")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--streams", type=lambda s: [int(x) for x in s.split(",")], default=[64, 256, 1024])
    p.add_argument("--port", type=int, default=18080)
    p.add_argument("--cores", default="0,1", help="core of the truth server, core of the client")
    p.add_argument("--client-words", help="words before a client's command, in place of the pinning (nice -n 19 taskset -c 1)")
    o = p.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    server, own = o.cores.split(",")
    truth = Truth(o.truth, o.port, pinning(server))
    o.url, o.pin = truth.url, shlex.split(o.client_words) if o.client_words else pinning(own)
    try:
        for what in o.what:
            {"paced": paced, "flood": flood, "start": start, "overload": overload}[what](o, truth)
    finally:
        truth.process.terminate()
        truth.process.wait()
    print(f"\nload average at the end: {os.getloadavg()}")


if __name__ == "__main__":
    main()
