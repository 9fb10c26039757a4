"""Writes files.jsonl.gz: rows that sglang 0.5.23's own data set code makes of custom.jsonl, openai.jsonl and mooncake.jsonl.

  python files.py WHEEL_FOLDER TOKENIZER_JSON

WHEEL_FOLDER is where the wheel sglang 0.5.23 was unpacked; requests, tqdm, tokenizers and numpy must be installed. The class below stands
in for transformers' tokenizer.
"""
import asyncio
import gzip
import json
import random
import sys
import types

import numpy as np
from tokenizers import Tokenizer

sys.path.insert(0, sys.argv[1])
fake = types.ModuleType("transformers")
for name in ("AutoProcessor", "AutoTokenizer", "PreTrainedTokenizer", "PreTrainedTokenizerFast", "PreTrainedTokenizerBase"):
    setattr(fake, name, type(name, (), {}))
sys.modules["transformers"] = fake
package = types.ModuleType("sglang.benchmark.datasets")
package.__path__ = [sys.argv[1] + "/sglang/benchmark/datasets"]
for name in ("sglang", "sglang.benchmark"):
    parent = types.ModuleType(name)
    parent.__path__ = [sys.argv[1] + "/" + name.replace(".", "/")]
    sys.modules[name] = parent
sys.modules["sglang.benchmark.datasets"] = package

from sglang.benchmark.datasets.custom import CustomDataset
from sglang.benchmark.datasets.mooncake import MooncakeDataset, get_mooncake_request_over_time
from sglang.benchmark.datasets.openai_dataset import OpenAIDataset


class Plain:
    bos_token = "<s>"

    def __init__(self, path):
        self.t = Tokenizer.from_file(path)

    def encode(self, text):
        return self.t.encode(text).ids

    def apply_chat_template(self, messages, add_generation_prompt, tokenize, return_dict):
        text = "<s>" + "".join(f"<{m['role']}>{m['content']}" for m in messages) + "<assistant>"
        return self.t.encode(text, add_special_tokens=False).ids if tokenize else text


class Replay(MooncakeDataset):
    def load(self, tokenizer):
        async def rows():
            return [r async for r in get_mooncake_request_over_time(super(Replay, self).load(), tokenizer, 0, self.rounds)]

        return asyncio.run(rows())

    @classmethod
    def from_args(cls, args):
        self = super().from_args(args)
        self.rounds = args.rounds
        return self


def args(kind, seed, n, **more):
    base = {"dataset_path": kind + ".jsonl", "num_prompts": n, "sharegpt_output_len": None, "sharegpt_context_len": None,
            "prompt_suffix": "", "apply_chat_template": False}
    return kind, seed, types.SimpleNamespace(**{**base, **more})


tokenizer = Plain(sys.argv[2])
with gzip.GzipFile("files.jsonl.gz", "wb", mtime=0) as out:
    for kind, seed, a in [
        args("custom", 42, 12),
        args("custom", 1, 100),
        args("custom", 42, 12, sharegpt_output_len=9, sharegpt_context_len=24),
        args("custom", 7, 12, prompt_suffix=" Answer in one word. "),
        args("custom", 7, 12, apply_chat_template=True),
        args("openai", 42, 0),
        args("openai", 42, 3),
        args("openai", 42, 5, sharegpt_output_len=20),
        args("mooncake", 42, 4, mooncake_workload="", rounds=1),
        args("mooncake", 42, 10, mooncake_workload="", rounds=3),
    ]:
        random.seed(seed)
        np.random.seed(seed)
        rows = {"custom": CustomDataset, "openai": OpenAIDataset, "mooncake": Replay}[kind].from_args(a).load(tokenizer)
        line = {"kind": kind, "seed": seed, "options": vars(a), "rows": [
            {"prompt": r.prompt, "prompt_len": r.prompt_len, "output_len": r.output_len, "extra": r.extra_request_body} for r in rows
        ]}
        out.write((json.dumps(line) + "\n").encode())
