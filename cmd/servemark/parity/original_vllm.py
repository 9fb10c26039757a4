"""Runs the unmodified client of `vllm bench serve` without its engine.

The client is vllm/benchmarks; what it asks of the rest of the package is little and stands below.
"""
import argparse
import gc
import importlib.machinery
import logging
import pathlib
import sys
import types


class Absent:
    """Stands for an optional module: whatever is taken from it is absent too, and using it fails."""

    def __init__(self, name="an optional package"):
        self.name = name

    def __getattr__(self, attribute):
        return Absent(f"{self.name}.{attribute}")

    def placeholder_attr(self, attribute):
        return Absent(f"{self.name}.{attribute}")

    def __call__(self, *_, **__):
        raise RuntimeError(f"{self.name} is not there in a parity run")


def tokenizer(name, tokenizer_mode="auto", trust_remote_code=False):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(name)


def host_port(host, port):
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


# What the client takes from each module outside vllm/benchmarks; an empty module is a package whose init is skipped.
MODULES = {
    "vllm": {},
    "vllm.inputs": {"MultiModalDataDict": dict},
    "vllm.logger": {"init_logger": logging.getLogger},
    "vllm.lora": {},
    "vllm.lora.request": {"LoRARequest": type("LoRARequest", (), {})},
    "vllm.lora.utils": {"get_adapter_absolute_path": str},
    "vllm.multimodal": {},
    "vllm.multimodal.audio": {"get_audio_duration": Absent("audio")},
    "vllm.multimodal.image": {"convert_image_mode": lambda image, mode: image.convert(mode)},
    "vllm.multimodal.utils": {"encode_image_url": Absent("image"), "fetch_image": Absent("image")},
    "vllm.tokenizers": {"TokenizerLike": object, "get_tokenizer": tokenizer},
    "vllm.transformers_utils": {},
    "vllm.transformers_utils.repo_utils": {"hf_api": Absent("hub")},
    "vllm.utils": {},
    "vllm.utils.argparse_utils": {"FlexibleArgumentParser": argparse.ArgumentParser},
    "vllm.utils.gc_utils": {"freeze_gc_heap": gc.freeze},
    "vllm.utils.import_utils": {"PlaceholderModule": Absent},
    "vllm.utils.mistral": {"is_mistral_tokenizer": lambda _: False},
    "vllm.utils.network_utils": {"join_host_port": host_port},
}


def prepare():
    found = importlib.machinery.PathFinder.find_spec("vllm")
    if found is None:
        sys.exit("vllm is not installed in this environment; make parity-vllm installs it")
    root = pathlib.Path(list(found.submodule_search_locations)[0])
    for name, attributes in MODULES.items():
        module = types.ModuleType(name)
        vars(module).update(attributes)
        if not attributes:
            module.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = module
        parent, _, leaf = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], leaf, module)


if __name__ == "__main__":
    prepare()
    from vllm.benchmarks import serve

    parser = argparse.ArgumentParser()
    serve.add_cli_args(parser)
    serve.main(parser.parse_args())
