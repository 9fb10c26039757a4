"""The official OpenAI SDK against a server: streaming and not, chat and completions. Usage: sdk.py BASE_URL MODEL [any]

With "any" the server answers to every model name, as llama.cpp does.
"""

import sys

from openai import NotFoundError, OpenAI

base, model, *names = sys.argv[1:]
client = OpenAI(base_url=base + "/v1", api_key="none", max_retries=0, timeout=30)

assert model in [m.id for m in client.models.list()], "the model is not listed"

question = [{"role": "user", "content": "What is a lighthouse for?"}]
whole = client.chat.completions.create(model=model, messages=question, max_completion_tokens=12)
assert whole.choices[0].message.content, "no answer"
assert whole.choices[0].finish_reason in ("length", "stop"), whole.choices[0].finish_reason
assert 1 <= whole.usage.completion_tokens <= 12, whole.usage

text, usage, reason = "", None, None
for chunk in client.chat.completions.create(
    model=model, messages=question, max_completion_tokens=12, stream=True, stream_options={"include_usage": True}
):
    usage = chunk.usage or usage
    for choice in chunk.choices:
        text += choice.delta.content or ""
        reason = choice.finish_reason or reason
assert text and reason, (text, reason)
assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens, usage

line = client.completions.create(model=model, prompt="Once upon a time", max_tokens=8)
assert line.choices[0].text and line.usage.completion_tokens <= 8
parts = [c.choices[0].text for c in client.completions.create(model=model, prompt="Once upon a time", max_tokens=8, stream=True)]
assert "".join(parts)

try:
    client.chat.completions.create(model="no-such-model", messages=question)
except NotFoundError as err:
    assert "no-such-model" in str(err), err
else:
    assert names == ["any"], "an unknown model was served"
print("sdk ok")
