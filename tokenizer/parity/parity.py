"""Compare our tokenizer with Python `tokenizers` on random texts.

    python parity.py ANSWER FILE… --count N --seed S     tokenizer.json files, N texts each
    python parity.py ANSWER --components M --count N      M random pipelines of all components, N texts each

ANSWER is the built command in ./answer. Exit status 1 means a difference; the first ones are printed.
"""
import argparse
import base64
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading

from draw import Draw

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
from tokenizers import Tokenizer  # noqa: E402

CHUNK = 200


class Ours:
    def __init__(self, command):
        self.p = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, questions):
        """Answers to a list of questions, written from a thread so that neither side waits for the other."""
        lines = b"".join(json.dumps(q).encode() + b"\n" for q in questions)

        def write():
            self.p.stdin.write(lines)
            self.p.stdin.flush()

        writer = threading.Thread(target=write)
        writer.start()
        answers = [json.loads(self.p.stdout.readline()) for _ in questions]
        writer.join()
        return answers


def compare(ours, path, count, seed, most=5):
    """Number of differences over count texts."""
    ref = Tokenizer.from_file(path)
    ref.no_truncation()
    ref.no_padding()
    got = ours.ask([{"open": path}])[0]
    if got.get("error"):
        print(f"{path}: {got['error']}")
        return 1
    vocab = ref.get_vocab(with_added_tokens=True)
    lines = "".join(f"{i} {t}\n" for t, i in sorted(vocab.items(), key=lambda x: (x[1], x[0].encode())))
    want = {"vocab": hashlib.sha256(lines.encode()).hexdigest(), "size": len(vocab), "added": ref.num_special_tokens_to_add(False)}
    if {k: got.get(k, 0) for k in want} != want:
        print(f"{path}: vocabulary\n  got  {got}\n  want {want}")
        return 1
    rnd = random.Random(f"{seed} {os.path.basename(path)}")
    draw = Draw(rnd, [t.content for t in ref.get_added_tokens_decoder().values()][:2000])
    top = max(ref.get_vocab().values()) + 3
    bad = done = 0
    while done < count and bad < most:
        texts = [draw.text() for _ in range(min(CHUNK, count - done))]
        done += len(texts)
        asked = [{"text": base64.b64encode(t).decode()} for t in texts]
        idlists = []
        for t, a in zip(texts, ours.ask(asked)):
            s = t.decode("utf-8", "replace")
            want, special = encoded(ref, s, False), encoded(ref, s, True)
            if want is None:  # the library fails on this text: nothing to equal
                continue
            if a.get("ids", []) != want or a.get("special", []) != special or a.get("error"):
                bad += 1
                print(f"{path}: encode {s!r}\n  got  {a.get('ids', [])} {a.get('error', '')}\n  want {want}\n  special {a.get('special')} want {special}")
                if bad >= most:
                    return bad
            idlists.append(want[:300])
        idlists += [[rnd.randrange(top) for _ in range(rnd.randint(1, 12))] for _ in range(len(texts) // 4)]
        for ids, a in zip(idlists, ours.ask([{"ids": i} for i in idlists])):
            want, skip = decoded(ref, ids, False), decoded(ref, ids, True)
            if want is None or skip is None:
                continue
            if a["decode"] != want or a["skip"] != skip:
                bad += 1
                print(f"{path}: decode {ids}\n  got  {a['decode']!r}\n  want {want!r}\n  skip {a['skip']!r} want {skip!r}")
                if bad >= most:
                    return bad
            elif a["stream"] != want and "\ufffd" not in want:
                bad += 1
                print(f"{path}: stream {ids}\n  got  {a['stream']!r}\n  want {want!r}")
    return bad


def encoded(ref, s, special):
    try:
        return ref.encode(s, add_special_tokens=special).ids
    except BaseException as e:  # a panic in the library is no Exception
        if isinstance(e, KeyboardInterrupt):
            raise
        return None


def decoded(ref, ids, skip):
    try:
        return ref.decode(ids, skip_special_tokens=skip)
    except BaseException as e:
        if isinstance(e, KeyboardInterrupt):
            raise
        return None


def main():
    a = argparse.ArgumentParser()
    a.add_argument("answer")
    a.add_argument("files", nargs="*")
    a.add_argument("--count", type=int, default=1000)
    a.add_argument("--components", type=int, default=0)
    a.add_argument("--seed", type=int, default=1)
    o = a.parse_args()
    ours = Ours(o.answer)
    bad = total = 0
    for path in o.files:
        bad += compare(ours, os.path.abspath(path), o.count, o.seed)
        total += o.count
        print(f"{os.path.basename(path)}: {o.count} texts, {bad} differences so far", flush=True)
    if o.components:
        from components import pipeline

        with tempfile.TemporaryDirectory() as d:
            for i in range(o.components):
                text = pipeline(random.Random(f"{o.seed} pipeline {i}"))
                path = os.path.join(d, f"{i}.json")
                with open(path, "w") as f:
                    f.write(text)
                n = compare(ours, path, o.count, o.seed, most=1)
                total += o.count
                if n:
                    bad += n
                    d2 = json.loads(text)
                    d2["model"] = {k: v for k, v in d2["model"].items() if k not in ("vocab", "merges")}
                    print(f"pipeline {i}: {json.dumps(d2, ensure_ascii=False)[:1500]}", flush=True)
                os.remove(path)
        print(f"{o.components} pipelines")
    print(f"{total} texts, {bad} differences")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
