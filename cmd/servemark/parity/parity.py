"""The real sglang.bench_serving, or vllm bench serve, and servemark with --strict-compat, against one simulated server, with the
same seed.

    python parity.py SERVEMARK sglang|vllm [CASE…]

For each case the request bodies on the wire must be equal byte for byte, and the result lines must have the same keys. Each
number that differs is printed with the line of docs/compat.md that says why; one that no line explains fails. Exit status 1
means a failure.
"""
import collections
import gzip
import json
import math
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[2]
RANDOM = ["--num-prompts", "12", "--random-input-len", "40", "--random-output-len", "8", "--request-rate", "40", "--warmup-requests", "1"]
ROWS = ["--num-prompts", "8", "--request-rate", "40"]
GROUPS = ["--gsp-num-groups", "3", "--gsp-prompts-per-group", "3", "--gsp-system-prompt-len", "24", "--gsp-question-len", "8", "--gsp-output-len", "6"]

# For each client a name: backend, data set and its flags; a word in capitals stands for a file of the repository.
SGLANG = {
    "native": ["--backend", "sglang", "--dataset-name", "random", "--dataset-path", "SHAREGPT"] + RANDOM,
    "completions": ["--backend", "sglang-oai", "--dataset-name", "random", "--dataset-path", "SHAREGPT", "--random-range-ratio", "0.5"] + RANDOM,
    "chat": ["--backend", "sglang-oai-chat", "--dataset-name", "sharegpt", "--dataset-path", "SHAREGPT", "--sharegpt-output-len", "6"] + ROWS,
    "vllm ids": ["--backend", "vllm", "--dataset-name", "random-ids", "--extra-request-body", '{"top_k": 5, "temperature": 0.5}', "--cache-report"] + RANDOM,
    "token ids": ["--backend", "sglang", "--dataset-name", "random-ids", "--tokenize-prompt", "--max-concurrency", "3", "--return-logprob", "--top-logprobs-num", "2"] + RANDOM,
    "whole replies": ["--backend", "sglang-oai-chat", "--dataset-name", "random", "--dataset-path", "SHAREGPT", "--disable-stream", "--disable-ignore-eos", "--output-details"] + RANDOM,
    "groups": ["--backend", "sglang-oai", "--dataset-name", "generated-shared-prefix", "--seed", "7", "--goodput", "ttft:500", "e2el:900"] + GROUPS,
    "custom": ["--backend", "sglang-oai", "--dataset-name", "custom", "--dataset-path", "CUSTOM", "--prompt-suffix", " Briefly."] + ROWS,
    "openai": ["--backend", "sglang-oai-chat", "--dataset-name", "openai", "--dataset-path", "OPENAI"] + ROWS,
    "adapters": ["--backend", "sglang", "--dataset-name", "random-ids", "--lora-name", "a", "b", "c", "--lora-request-distribution", "skewed"] + RANDOM,
    "uniform adapters": ["--backend", "sglang", "--dataset-name", "sharegpt", "--dataset-path", "SHAREGPT", "--lora-name", "a", "b"] + ROWS,
    "trace": ["--backend", "sglang", "--dataset-name", "mooncake", "--dataset-path", "MOONCAKE", "--num-prompts", "4", "--mooncake-slowdown-factor", "0.01", "--warmup-requests", "0"],
    "turns": ["--backend", "sglang-oai-chat", "--dataset-name", "generated-shared-prefix", "--gsp-num-turns", "2", "--warmup-requests", "0"] + GROUPS,
    "speed-bench": ["--backend", "sglang-oai", "--dataset-name", "speed-bench", "--dataset-path", "SPEEDBENCH", "--speed-bench-output-len", "4"] + ROWS,
    "longbench": ["--backend", "sglang-oai", "--dataset-name", "longbench_v2", "--dataset-path", "LONGBENCH"] + ROWS,
    "agentic": ["--backend", "sglang-oai-chat", "--dataset-name", "agentic-trace", "--dataset-path", "AGENTIC", "--sharegpt-output-len", "5", "--num-prompts", "0", "--warmup-requests", "0"],
    "embeddings": ["--backend", "sglang-embedding", "--dataset-name", "random", "--dataset-path", "SHAREGPT"] + RANDOM,
}

VRANDOM = ["--dataset-name", "random", "--num-prompts", "10", "--random-input-len", "40", "--random-output-len", "8"]
VROWS = ["--num-prompts", "8", "--request-rate", "40"]
VLLM = {
    "completions": ["--backend", "vllm", "--random-range-ratio", "0.5", "--request-rate", "40"] + VRANDOM,
    "cut": ["--random-prefix-len", "6", "--random-range-ratio", "0.5"] + VRANDOM,
    "gamma": ["--burstiness", "0.5", "--request-rate", "40", "--max-concurrency", "2", "--percentile-metrics", "ttft,tpot,itl,e2el,client_queue_time,e2el_including_client_queue",
              "--metric-percentiles", "50,99.9", "--goodput", "ttft:500", "--save-detailed", "--metadata", "tp=8"] + VRANDOM,
    "chat": ["--backend", "openai-chat", "--endpoint", "/v1/chat/completions", "--temperature", "0", "--top-p", "0.9", "--extra-body", '{"seed": 3}', "--ignore-eos", "--label", "night"] + VRANDOM,
    "sharegpt": ["--dataset-name", "sharegpt", "--dataset-path", "SHAREGPT", "--logprobs", "2", "--sharegpt-output-len", "5"] + VROWS,
    "custom": ["--dataset-name", "custom", "--dataset-path", "PROMPTS", "--skip-chat-template", "--custom-output-len", "7", "--num-warmups", "2"] + VROWS,
    "prefixes": ["--dataset-name", "prefix_repetition", "--prefix-repetition-num-prefixes", "3", "--prefix-repetition-prefix-len", "20", "--prefix-repetition-suffix-len", "9",
                 "--prefix-repetition-output-len", "4", "--num-prompts", "9"],
    "ramp": ["--ramp-up-strategy", "linear", "--ramp-up-start-rps", "20", "--ramp-up-end-rps", "60"] + VRANDOM,
    "spec_bench": ["--dataset-name", "spec_bench", "--dataset-path", "SPECBENCH", "--skip-chat-template", "--spec-bench-output-len", "5"] + VROWS,
    "burstgpt": ["--dataset-name", "burstgpt", "--dataset-path", "BURSTGPT", "--num-prompts", "5", "--max-concurrency", "2"],
    "embeddings": ["--backend", "openai-embeddings", "--endpoint", "/v1/embeddings", "--save-detailed"] + VRANDOM,
    "adapters": ["--lora-modules", "a", "b", "--lora-assignment", "round-robin", "--seed", "4"] + VRANDOM,
    "responses": ["--backend", "openai-responses", "--endpoint", "/v1/responses", "--ignore-eos"] + VRANDOM,
    "rerank": ["--backend", "vllm-rerank", "--endpoint", "/v1/rerank", "--dataset-name", "random-rerank", "--random-batch-size", "3", "--num-prompts", "7", "--random-input-len", "40"],
}

# Keys of the result whose numbers may differ, and how the line of docs/compat.md begins that says why.
EXPLAINED = [
    (r"date|.*_times|rps_change_events", "Runs begin at different times"),
    (r"duration|.*_throughput", "Duration ends with the last reply"),
    (r".*_(ttft|tpot|itl|e2e_latency|e2el|client_queue_time|e2el_including_client_queue)_ms|ttfts|itls|latencies", "Times are the kernel's receive times"),
    (r"concurrency|max_output_tokens_per_s|max_concurrent_requests|request_goodput|slo_attainment.*", "Times are the kernel's receive times"),
    (r"request_rate|total_output_tokens_retokenized|total_input(_text)?_tokens", "What was not measured is null"),
    (r"request_rate", "A trace's request_rate is"),
    (r"random_(input|output)_len", "random_input_len and random_output_len are null"),
    (r"accept_length", "accept_length is of this run"),
    (r"server_info", "Secrets in server_info are redacted"),
    (r"cache_report|cached_tokens.*", "Cached tokens are read from the standard usage too"),
    (r"total_output_tokens|output_lens", "An answer without the server's usage"),
]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Simulator:
    """servemark sim, with the bodies of all requests in a file."""

    def __init__(self, servemark, folder, flavour):
        self.port, self.bodies = free_port(), folder / "bodies.jsonl"
        self.process = subprocess.Popen(
            [servemark, "sim", "--port", str(self.port), "--served-model-name", "glm-5", "--ttft", "10ms", "--itl", "2ms", "--log-bodies", str(self.bodies),
             "--flavour", flavour, "--lora-modules", "a", "b", "c"],
            stdout=subprocess.DEVNULL)
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        sys.exit("the simulated server does not start")

    def take(self):
        """The lines written since the last call, except for those that vLLM's client uses to look at the tokenizer. Order on the
        wire is the server's business, so they are sorted."""
        lines = self.bodies.read_bytes().splitlines() if self.bodies.exists() else []
        self.bodies.write_bytes(b"")
        return sorted(line for line in lines if b'"path":"/tokenize"' not in line and b'"path":"/detokenize"' not in line)


def files(folder):
    """The data sets as files that both clients read, and a tokenizer's folder."""
    data = REPO / "internal/dataset/testdata/seed_parity"
    share = folder / "sharegpt.json"
    share.write_bytes(gzip.decompress((data / "sharegpt_small.json.gz").read_bytes()))
    questions = folder / "question.jsonl"
    questions.write_text("".join(json.dumps({"question_id": i, "category": "qa", "turns": [f"Question {i}: what follows?"]}) + "\n" for i in range(12)))
    tokenizer = folder / "tokenizer"
    tokenizer.mkdir()
    (tokenizer / "tokenizer.json").write_bytes(gzip.decompress((REPO / "tokenizer/sim4k.json.gz").read_bytes()))
    template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    (tokenizer / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": template}))
    return {"SHAREGPT": str(share), "CUSTOM": str(data / "custom.jsonl"), "OPENAI": str(data / "openai.jsonl"), "MOONCAKE": str(data / "mooncake.jsonl"),
            "SPEEDBENCH": str(data / "speed-bench.jsonl"), "LONGBENCH": str(data / "longbench_v2.jsonl"), "AGENTIC": str(data / "agentic-trace.json"),
            "PROMPTS": str(data / "cust_small.jsonl"), "BURSTGPT": str(data / "burstgpt.csv"), "SPECBENCH": str(questions)}, tokenizer


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode:
        print(done.stdout[-3000:])
        raise RuntimeError(f"{pathlib.Path(command[0]).name} ended with {done.returncode}")


def result(path):
    return json.loads(path.read_text().splitlines()[-1])


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-9)
    return a == b


def why(key, ours, lines):
    for pattern, start in EXPLAINED:
        if start.startswith("What was not measured") and ours not in (None, "inf"):
            continue
        if re.fullmatch(pattern, key):
            return next((line for line in lines if line.startswith("- " + start)), None)
    return None


def short(value):
    text = f"{value:.3f}" if isinstance(value, float) else json.dumps(value)
    return text if len(text) <= 24 else text[:21] + "…"


class SGLang:
    cases, flavour = SGLANG, "sglang"

    def theirs(self, common):
        return [sys.executable, str(HERE / "original.py"), *common, "--output-file", "theirs.json"]

    def ours(self, servemark, common):
        return [servemark, "bench_serving", "--strict-compat", *common, "--output-file", "ours.json", "--journal", "-"]


class Vllm:
    cases, flavour = VLLM, "vllm"

    def theirs(self, common):
        return [sys.executable, str(HERE / "original_vllm.py"), *common, "--save-result", "--result-filename", "theirs.json"]

    def ours(self, servemark, common):
        return [servemark, "bench", "serve", "--strict-compat", *common, "--save-result", "--result-filename", "ours.json", "--journal", "-"]


def compare(client, name, flags, simulator, servemark, folder, tokenizer, lines):
    """Runs one case; returns the number of faults."""
    common = flags + ["--base-url", f"http://127.0.0.1:{simulator.port}", "--model", "glm-5", "--tokenizer", str(tokenizer), "--disable-tqdm"]
    if "--seed" not in flags:
        common += ["--seed", "42"]
    home = folder / ("home " + name)  # SGLang's client keeps drawn prompts under the user's home
    home.mkdir()
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hub"), "HOME": str(home), "TRANSFORMERS_VERBOSITY": "error"}
    simulator.take()
    run(client.theirs(common), folder, environment)
    theirs = simulator.take()
    run(client.ours(servemark, common), folder, environment)
    ours = simulator.take()

    faults = 0
    left, right = collections.Counter(theirs), collections.Counter(ours)
    if left != right:
        faults += 1
        print(f"{name}: {len(theirs)} bodies of the original, {len(ours)} of servemark, {sum((left & right).values())} in common")
        for who, only in (("theirs", left - right), ("ours", right - left)):
            for body in list(only)[:2]:
                print(f"  only {who}: {body[:400].decode()}")
    else:
        print(f"{name}: {len(ours)} request bodies are equal")
    a, b = result(folder / "theirs.json"), result(folder / "ours.json")
    missing = [k for k in a if k not in b]
    order = [k for k in b if k in a]
    if missing or order != list(a):
        faults += 1
        print(f"{name}: keys differ: missing {missing}, order {order}")
    else:
        print(f"{name}: all {len(a)} keys are there, in the original's order")
    reasons = collections.defaultdict(list)
    for key in a:
        if key in b and not same(a[key], b[key]):
            reasons[why(key, b[key], lines)].append(f"{key} {short(a[key])} → {short(b[key])}")
    for reason, numbers in reasons.items():
        print(f"  {reason or '- NOT EXPLAINED in docs/compat.md'}")
        print("      " + ", ".join(numbers))
    return faults + (None in reasons)


def main():
    servemark, client = os.path.abspath(sys.argv[1]), {"sglang": SGLang, "vllm": Vllm}[sys.argv[2]]()
    wanted = sys.argv[3:] or list(client.cases)
    lines = (REPO / "docs/compat.md").read_text().splitlines()
    faults = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths, tokenizer = files(folder)
        simulator = Simulator(servemark, folder, client.flavour)
        try:
            for case in wanted:
                flags = [paths.get(word, word) for word in client.cases[case]]
                faults += compare(client, case, flags, simulator, servemark, folder, tokenizer, lines)
        finally:
            simulator.process.terminate()
            simulator.process.wait()
    print(f"{len(wanted)} cases, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
