"""Runs the unmodified sglang.bench_serving without its engine.

The package's own __init__ files import the engine, for which the client has no use. Empty modules with the same search path
stand in for them, so that only the client's own modules are loaded.
"""
import importlib.machinery
import pathlib
import sys
import types

# Package inits that are skipped, and what the client asks of them.
SKIPPED = {
    "sglang": {"__version__": "parity"},
    "sglang.srt": {},
    "sglang.srt.utils": {},
    "sglang.srt.disaggregation": {},
}
# Modules that are replaced: the client takes one constant from each.
REPLACED = {"sglang.srt.disaggregation.utils": {"FAKE_BOOTSTRAP_HOST": "2.2.2.2"}}


def prepare():
    found = importlib.machinery.PathFinder.find_spec("sglang")
    if found is None:
        sys.exit("sglang is not installed in this environment; make parity installs it")
    root = pathlib.Path(list(found.submodule_search_locations)[0])
    for name, attributes in {**SKIPPED, **REPLACED}.items():
        module = types.ModuleType(name)
        vars(module).update(attributes)
        if name in SKIPPED:
            module.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = module
        parent, _, leaf = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], leaf, module)


if __name__ == "__main__":
    prepare()
    from sglang.benchmark import serving

    serving.cli_main()
