package chat_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/servemark/servemark/tokenizer/chat"
)

func Example() {
	config, err := chat.FromConfig([]byte(`{
		"eos_token": "</s>",
		"chat_template": "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
	}`))
	if err != nil {
		panic(err)
	}
	source, err := config.Source("", false)
	if err != nil {
		panic(err)
	}
	template, err := chat.Parse(source)
	if err != nil {
		panic(err)
	}
	text, err := template.Render(context.Background(), chat.Input{
		Messages:            json.RawMessage(`[{"role": "user", "content": "What is 2+2?"}]`),
		Special:             config.Special,
		AddGenerationPrompt: true,
	})
	fmt.Println(text, err)
	// Output: <user>What is 2+2?</s><assistant> <nil>
}
