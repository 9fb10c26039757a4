"""Writes more.jsonl.gz: rows that sglang 0.5.23's and vLLM 0.33's own data set code makes of images, of the small files beside this one
and of conversations. As files.py, with pillow, pybase64 and pandas installed too; VLLM_FOLDER is where vLLM's wheel was unpacked.

  python more.py WHEEL_FOLDER VLLM_FOLDER TOKENIZER_JSON
"""
import base64
import gzip
import hashlib
import importlib
import io
import json
import random
import sys
import types

import numpy as np
from PIL import Image
from tokenizers import Tokenizer

SGLANG, VLLM, TOKENIZER = sys.argv[1:4]


def fake(name, **members):
    m = types.ModuleType(name)
    m.__path__ = []
    for k, v in members.items():
        setattr(m, k, v)
    sys.modules[name] = m


def package(root, name):
    m = types.ModuleType(name)
    m.__path__ = [root + "/" + name.replace(".", "/")]
    sys.modules[name] = m


stand_in = {n: type(n, (), {}) for n in ("AutoProcessor", "AutoTokenizer", "PreTrainedTokenizer", "PreTrainedTokenizerFast", "PreTrainedTokenizerBase")}
fake("transformers", **stand_in)
fake("datasets", load_dataset=None)
fake("soundfile")
for name in ("sglang", "sglang.benchmark", "sglang.benchmark.datasets"):
    package(SGLANG, name)
fake("sglang.benchmark.utils", get_processor=lambda model: processor)
for name in ("vllm", "vllm.benchmarks", "vllm.benchmarks.datasets"):
    package(VLLM, name)
fake("vllm.inputs", MultiModalDataDict=dict)
fake("vllm.lora")
fake("vllm.lora.request", LoRARequest=object)
fake("vllm.lora.utils", get_adapter_absolute_path=None)
fake("vllm.multimodal")
fake("vllm.multimodal.audio", get_audio_duration=None)
fake("vllm.multimodal.image", convert_image_mode=lambda image, mode: image.convert(mode))
fake("vllm.multimodal.utils", encode_image_url=None, fetch_image=None)
fake("vllm.tokenizers", TokenizerLike=object)
fake("vllm.transformers_utils")
fake("vllm.transformers_utils.repo_utils", hf_api=None)
fake("vllm.utils")
fake("vllm.utils.argparse_utils", FlexibleArgumentParser=object)
fake("vllm.utils.import_utils", PlaceholderModule=object)
fake("vllm.utils.mistral", is_mistral_tokenizer=lambda t: False)


class Plain:
    """A tokenizer and a processor: gpt2 with a chat template of its own."""

    bos_token = "<s>"

    def __init__(self, path):
        self.t = Tokenizer.from_file(path)
        self.vocab_size = self.t.get_vocab_size(with_added_tokens=False)
        self.added_tokens_decoder = self.t.get_added_tokens_decoder()
        self.all_special_ids = [i for i, a in self.added_tokens_decoder.items() if a.special]

    def encode(self, text, add_special_tokens=True):
        return self.t.encode(text, add_special_tokens=add_special_tokens).ids

    def decode(self, ids):
        return self.t.decode([int(i) for i in ids], skip_special_tokens=False)

    def get_vocab(self):
        return self.t.get_vocab()

    def num_special_tokens_to_add(self):
        return self.t.num_special_tokens_to_add(False)

    def apply_chat_template(self, messages, add_generation_prompt, tokenize, return_dict=False):
        text = "<s>" + "".join(f"<{m['role']}>{self.content(m['content'])}" for m in messages) + "<assistant>"
        return self.t.encode(text, add_special_tokens=False).ids if tokenize else text

    def content(self, c):
        return c if isinstance(c, str) else "".join("<img>" if p["type"] == "image" else p["text"] for p in c)

    def __call__(self, text, images=None, padding=None, return_tensors=None):
        if isinstance(text, list):
            n = len(self.encode(text[0]))
            return {"input_ids": types.SimpleNamespace(numel=lambda: n)}
        return types.SimpleNamespace(input_ids=self.encode(text))


processor = Plain(TOKENIZER)


def picture(uri):
    head, body = uri.split(",", 1)
    raw = base64.b64decode(body)
    image = Image.open(io.BytesIO(raw))
    out = {"format": head, "size": image.size, "mean": float(np.asarray(image).mean())}
    if image.format == "PNG":
        out["sha256"] = hashlib.sha256(np.asarray(image).tobytes()).hexdigest()
    return out


def sglang_row(r):
    out = {"prompt": r.prompt, "output_len": r.output_len, "prompt_len": r.prompt_len}
    if r.image_data:
        out["images"] = [picture(u) for u in r.image_data]
        out["text_len"] = r.text_prompt_len
    return out


def vllm_row(r):
    out = {"prompt": r.prompt, "output_len": r.expected_output_len, "prompt_len": r.prompt_len}
    if r.multi_modal_data:
        out["images"] = [picture(u["image_url"]["url"]) for u in r.multi_modal_data]
    return out


def sglang(kind, module, cls, seed, **options):
    random.seed(seed)
    np.random.seed(seed)
    make = getattr(importlib.import_module("sglang.benchmark.datasets." + module), cls)
    a = types.SimpleNamespace(seed=seed, dataset_path="", sharegpt_output_len=None, sharegpt_context_len=None, dataset_offset=0, agentic_max_turns=None, backend="sglang-oai-chat", **{})
    a.__dict__.update(options)
    rows = make.from_args(a).load(processor)
    return {"tool": "sglang", "kind": kind, "seed": seed, "options": options, "rows": [sglang_row(r) for r in rows]}


def vllm(kind, cls, seed, init, **options):
    random.seed(seed)
    np.random.seed(seed)
    make = getattr(importlib.import_module("vllm.benchmarks.datasets.datasets"), cls)
    rows = make(**init).sample(tokenizer=processor, **options)
    options = {k: [[*b, p] for b, p in v.items()] if k == "bucket_config" else v for k, v in {**init, **options}.items()}
    return {"tool": "vllm", "kind": kind, "seed": seed, "options": options, "rows": [vllm_row(r) for r in rows]}


def image(seed, **options):
    base = {"num_prompts": 3, "random_input_len": 12, "random_output_len": 9, "random_range_ratio": 0.5, "image_count": 2, "random_image_count": False,
            "image_content": "random", "image_format": "png", "image_resolution": "24x40"}
    return sglang("image", "image", "ImageDataset", seed, **{**base, **options})


def runs():
    yield image(42)
    yield image(7, random_image_count=True, image_count=4, image_resolution="random:8x10-20x31")
    yield image(7, image_format="jpeg", image_resolution="64x48", num_prompts=2)
    yield image(3, image_content="blank", image_resolution="360p", num_prompts=1, random_range_ratio=0.0)
    yield image(3, backend="sglang", num_prompts=2)
    for seed, n, out, limit in ((42, 4, None, None), (1, 100, 7, None), (42, 4, None, 90)):
        yield sglang("longbench_v2", "longbench_v2", "LongBenchV2Dataset", seed, dataset_path="longbench_v2.jsonl", num_prompts=n, sharegpt_output_len=out, sharegpt_context_len=limit)
    for seed, n, category in ((42, 3, None), (42, 2, "mixed"), (5, 11, None)):
        yield sglang("speed-bench", "speed_bench", "SpeedBenchDataset", seed, dataset_path="speed-bench.jsonl", num_prompts=n, speed_bench_category=category, speed_bench_output_len=512)
    for n, offset, turns, out in ((0, 0, None, None), (2, 2, 2, 33)):
        yield sglang("agentic-trace", "agentic_trace", "AgenticTraceDataset", 42, dataset_path="agentic-trace.json", num_prompts=n, dataset_offset=offset, agentic_max_turns=turns, sharegpt_output_len=out)
    for seed, ordered, ratio in ((42, False, 1.0), (9, True, 0.3)):
        yield sglang("generated-shared-prefix", "generated_shared_prefix", "GeneratedSharedPrefixDataset", seed, gsp_num_groups=2, gsp_prompts_per_group=3, gsp_system_prompt_len=17, gsp_question_len=5,
                     gsp_output_len=8, gsp_range_ratio=ratio, gsp_num_turns=3, gsp_ordered=ordered)
    for n, category in ((4, None), (9, "mixed"), (2, "mixed")):
        yield vllm("spec_bench", "SpecBench", 42, {"dataset_path": "speed-bench.jsonl", "category": category}, num_requests=n, output_len=256)
    yield vllm("speed_bench", "SpeedBench", 42, {"dataset_path": ".", "dataset_subset": "qualitative", "category": None}, num_requests=5, output_len=4096)
    yield vllm("speed_bench", "SpeedBench", 42, {"dataset_path": ".", "dataset_subset": "qualitative", "category": "coding"}, num_requests=3, output_len=4096, skip_chat_template=True)
    for seed, n in ((0, 5), (42, 12)):
        yield vllm("burstgpt", "BurstGPTDataset", seed, {"random_seed": seed, "dataset_path": "burstgpt.csv"}, num_requests=n)
    for seed, pairs, n, batch, ratio in ((0, True, 7, 1, 0.0), (42, True, 7, 3, 0.4), (42, False, 7, 3, 0.2)):
        yield vllm("random-rerank", "RandomDatasetForReranking", seed, {"random_seed": seed}, num_requests=n, input_len=40, range_ratio=ratio, batchsize=batch, is_reranker=pairs)
    yield vllm("random", "RandomDataset", 42, {"random_seed": 42}, num_requests=7, input_len=20, output_len=4, range_ratio=0.0, batchsize=3)
    for seed, base, ratio, limit, buckets in (
        (0, 1, 0.0, 255, {(16, 24, 1): 0.5, (20, 12, 1): 0.5, (720, 1280, 16): 0.0}),
        (42, 2, 1.0, 3, {(16, 24, 1): 3.0, (9, 11, 1): 1.0}),
    ):
        yield vllm("random-mm", "RandomMultiModalDataset", seed, {"random_seed": seed}, num_requests=4, input_len=20, output_len=6, prefix_len=5, range_ratio=0.3,
                   base_items_per_request=base, num_mm_items_range_ratio=ratio, limit_mm_per_prompt={"image": limit, "video": 1}, bucket_config=buckets)


with gzip.GzipFile("more.jsonl.gz", "wb", mtime=0) as out:
    for run in runs():
        run["python"] = [random.random() for _ in range(2)]
        run["gaps"] = [np.random.exponential(0.1) for _ in range(3)]
        out.write((json.dumps(run) + "\n").encode())
