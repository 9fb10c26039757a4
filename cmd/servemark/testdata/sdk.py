"""The official OpenAI SDK against a server: streaming and not, chat and completions. Usage: sdk.py BASE_URL MODEL [any] [responses]

With "any" the server answers to every model name, as llama.cpp does; with "responses" it has the Responses API.
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

if "responses" in names:
    names.remove("responses")
    tool = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}, "strict": False}
    whole = client.responses.create(model=model, input="What is a lighthouse for?", instructions="Be brief.", max_output_tokens=12)
    assert whole.output_text and whole.status in ("completed", "incomplete"), whole
    assert 1 <= whole.usage.output_tokens <= 12 and whole.usage.total_tokens == whole.usage.input_tokens + whole.usage.output_tokens, whole.usage
    text, numbers = "", []
    with client.responses.stream(model=model, input="What is a lighthouse for?", max_output_tokens=12) as events:
        for event in events:
            numbers.append(event.sequence_number)
            if event.type == "response.output_text.delta":
                text += event.delta
                assert event.snapshot == text, (event.snapshot, text)
        final = event.response  # the helper has none for an incomplete response
    assert text and final.output_text == text and final.usage.output_tokens >= 1, final
    assert numbers == sorted(set(numbers)), numbers
    called = client.responses.create(model=model, input="Look!", tools=[tool], tool_choice="required").output[-1]
    assert called.type == "function_call" and called.name == "look" and called.arguments.startswith("{"), called

try:
    client.chat.completions.create(model="no-such-model", messages=question)
except NotFoundError as err:
    assert "no-such-model" in str(err), err
else:
    assert names == ["any"], "an unknown model was served"
print("sdk ok")
