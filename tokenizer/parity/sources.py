"""Compare our reading of other formats with the libraries that own them, on random texts without special tokens.

    python sources.py ANSWER --tiktoken FILE PATTERN_NAME | --tekken FILE | --spm FILE | --llama URL GGUF  [--count N] [--seed S]

Needs the package of the format: tiktoken, mistral-common, sentencepiece; for GGUF a running llama.cpp server.
"""
import argparse
import base64
import json
import os
import random
import sys
import urllib.request

from draw import Draw
from parity import Ours

FOLD = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS = {
    "cl100k": (FOLD + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + TAIL, False),
    "qwen2": (FOLD + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + TAIL, True),
    "qwen35": (FOLD + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+", True),
}


def tiktoken_ids(path, name):
    import tiktoken
    from tokenizers.normalizers import NFC  # its Unicode data is older than Python's; all formats get the same here

    ranks = {base64.b64decode(t): int(r) for t, r in (line.split() for line in open(path, "rb") if line.strip())}
    pattern, nfc = PATTERNS[name]
    enc = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda s: enc.encode_ordinary(NFC().normalize_str(s) if nfc else s)


def tekken_ids(path):
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    t = Tekkenizer.from_file(path)
    return lambda s: t.encode(s, bos=False, eos=False)


def spm_ids(path):
    import sentencepiece

    sp = sentencepiece.SentencePieceProcessor(model_file=path)
    return lambda s: sp.encode(s)


def llama_ids(url):
    def ask(s):
        body = json.dumps({"content": s, "add_special": False}).encode()
        r = urllib.request.Request(url + "/tokenize", body, {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(r))["tokens"]

    return ask


def main():
    a = argparse.ArgumentParser()
    a.add_argument("answer")
    a.add_argument("--tiktoken", nargs=2)
    a.add_argument("--tekken")
    a.add_argument("--spm")
    a.add_argument("--llama", nargs=2)
    a.add_argument("--lines", help="a .jsonl whose texts are used instead of random ones")
    a.add_argument("--count", type=int, default=1000)
    a.add_argument("--seed", type=int, default=1)
    o = a.parse_args()
    if o.tiktoken:
        path, want = o.tiktoken[0], tiktoken_ids(*o.tiktoken)
    elif o.tekken:
        path, want = o.tekken, tekken_ids(o.tekken)
    elif o.spm:
        path, want = o.spm, spm_ids(o.spm)
    else:
        path, want = o.llama[1], llama_ids(o.llama[0])
    ours = Ours(o.answer)
    got = ours.ask([{"open": os.path.abspath(path)}])[0]
    if got.get("error"):
        sys.exit(got["error"])
    if o.lines:
        texts = [json.loads(line)["text"] for line in open(o.lines)]
    else:
        draw = Draw(random.Random(o.seed))
        texts = [draw.text().decode("utf-8", "replace") for _ in range(o.count)]
    bad = 0
    for s, a in zip(texts, ours.ask([{"text": base64.b64encode(s.encode()).decode()} for s in texts])):
        w = list(want(s))
        if a.get("ids", []) != w:
            bad += 1
            if bad <= 5:
                print(f"{s!r}\n  got  {a.get('ids')} {a.get('error', '')}\n  want {w}")
    print(f"{path}: {len(texts)} texts, {bad} differences")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
