package endpoint

import "github.com/servemark/servemark/internal/bench"

// quick reads the events that streams are made of (text, thoughts, ids, usage, finish) in one pass without allocating.
// It answers false where it is not sure: errors, tool calls, refusals, rare places for known things, repeated keys,
// anything illegal. Where it answers true the frame equals what reference makes of the same bytes.
func (f *frame) quick(data []byte, native, text bool) bool {
	s := newScan(data)
	if !s.open('{') {
		return false
	}
	seen := uint(0)
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			break
		}
		switch string(key) {
		case "error":
			s.needNull()
		case "object", "type":
			if s.peek() != '"' {
				s.skip()
			} else if v, plain := s.str(); !plain || string(v) == "error" {
				s.fail()
			}
		default:
			if native {
				f.quickNative(&s, key, &seen)
			} else {
				f.quickOpenAI(&s, key, &seen, text)
			}
		}
	}
	return s.end()
}

// quickOpenAI reads one member of an event of OpenAI's routes.
func (f *frame) quickOpenAI(s *scan, key []byte, seen *uint, text bool) {
	switch string(key) {
	case "choices":
		if s.once(seen, 1) {
			f.quickChoices(s, text)
		}
	case "usage":
		if s.once(seen, 2) {
			f.quickUsage(s)
		}
	case "sglext", "x_groq":
		s.needNull()
	default:
		s.skip()
	}
}

// quickNative reads one member of an event of SGLang's own route.
func (f *frame) quickNative(s *scan, key []byte, seen *uint) {
	switch string(key) {
	case "text":
		if s.once(seen, 1) {
			f.hasAnswer = s.text(&f.answer, true)
		}
	case "output_ids":
		if s.once(seen, 2) {
			f.quickIDs(s)
		}
	case "meta_info":
		if s.once(seen, 4) {
			f.quickMeta(s)
		}
	default:
		s.skip()
	}
}

// needNull consumes a null and gives up on anything else.
func (s *scan) needNull() {
	if !s.null() {
		s.fail()
	}
}

// once gives up where the key with this bit has been seen before in the object.
func (s *scan) once(seen *uint, bit uint) bool {
	if *seen&bit != 0 {
		s.fail()
		return false
	}
	*seen |= bit
	return true
}

// text consumes a string or null and reports whether there is any text; with keep it is appended, decoded, to dst.
func (s *scan) text(dst *[]byte, keep bool) bool {
	if s.null() {
		return false
	}
	raw, plain := s.str()
	if keep {
		if plain {
			*dst = append(*dst, raw...)
		} else {
			*dst = appendDecoded(*dst, raw)
		}
	}
	return len(raw) > 0
}

// count consumes a whole number or null.
func (s *scan) count() bench.Count {
	if s.null() {
		return bench.Unknown
	}
	return bench.Counted(s.whole())
}

func (f *frame) quickChoices(s *scan, text bool) {
	if s.null() {
		return
	}
	if !s.open('[') {
		s.fail()
		return
	}
	for first := true; s.item(&first); {
		f.choices++
		f.quickChoice(s, text)
	}
}

func (f *frame) quickChoice(s *scan, text bool) {
	if !s.open('{') {
		s.fail()
		return
	}
	seen := uint(0)
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			return
		}
		switch string(key) {
		case "delta", "message": // one of the two, and no text beside it
			if s.once(&seen, 1) && !s.null() {
				f.quickDelta(s, text)
			}
		case "text":
			if s.once(&seen, 1) && s.text(&f.answer, text) {
				f.hasAnswer = true
			}
		case "finish_reason":
			if s.once(&seen, 2) && !s.null() {
				if v, plain := s.str(); !plain {
					s.fail()
				} else if f.finish == "" {
					f.finish = finishWord(v)
				}
			}
		case "token_ids":
			if s.once(&seen, 4) && !s.null() {
				f.quickIDs(s)
			}
		case "error", "usage":
			s.needNull()
		default:
			s.skip()
		}
	}
}

func (f *frame) quickDelta(s *scan, text bool) {
	if !s.open('{') {
		s.fail()
		return
	}
	seen := uint(0)
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			return
		}
		switch string(key) {
		case "content":
			if s.once(&seen, 1) && s.text(&f.answer, text) {
				f.hasAnswer = true
			}
		case "reasoning_content", "reasoning", "thinking":
			if s.null() {
				continue
			}
			if s.once(&seen, 2) && s.text(&f.thinking, text) { // the same thought under two names is the reference's affair
				f.hasThinking = true
			}
		case "tool_calls":
			if !s.null() {
				nothing := true
				if !s.open('[') || s.item(&nothing) {
					s.fail()
				}
			}
		case "function_call", "refusal", "reasoning_details":
			s.needNull()
		default:
			s.skip()
		}
	}
}

// quickIDs counts a list of token ids, or null.
func (f *frame) quickIDs(s *scan) {
	if s.null() {
		return
	}
	if !s.open('[') {
		s.fail()
		return
	}
	f.hasIDs = true
	for first := true; s.item(&first); {
		f.ids++
		s.skip()
	}
}

func (f *frame) quickUsage(s *scan) {
	if s.null() {
		return
	}
	if !s.open('{') {
		s.fail()
		return
	}
	var reasoning, cached bench.Count
	seen := uint(0)
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			break
		}
		switch string(key) {
		case "prompt_tokens":
			if s.once(&seen, 1) {
				f.usage.Prompt = s.count()
			}
		case "completion_tokens":
			if s.once(&seen, 2) {
				f.usage.Completion = s.count()
			}
		case "reasoning_tokens":
			if s.once(&seen, 4) {
				reasoning = s.count()
			}
		case "completion_tokens_details":
			if s.once(&seen, 8) {
				f.usage.Reasoning = s.detail("reasoning_tokens")
			}
		case "prompt_tokens_details":
			if s.once(&seen, 16) {
				f.usage.Cached = s.detail("cached_tokens")
			}
		case "cached_tokens":
			if s.once(&seen, 32) {
				cached = s.count()
			}
		case "prompt_cache_hit_tokens":
			s.needNull()
		default:
			s.skip()
		}
	}
	if !f.usage.Reasoning.Known() {
		f.usage.Reasoning = reasoning
	}
	if !f.usage.Cached.Known() {
		f.usage.Cached = cached
	}
}

// detail consumes an object, or null, and returns its count of that name.
func (s *scan) detail(name string) (n bench.Count) {
	if s.null() {
		return bench.Unknown
	}
	if !s.open('{') {
		s.fail()
		return bench.Unknown
	}
	seen := uint(0)
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			return n
		}
		if string(key) != name {
			s.skip()
		} else if s.once(&seen, 1) {
			n = s.count()
		}
	}
}

func (f *frame) quickMeta(s *scan) {
	if s.null() {
		return
	}
	if !s.open('{') {
		s.fail()
		return
	}
	seen := uint(0)
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			return
		}
		switch string(key) {
		case "prompt_tokens":
			if s.once(&seen, 1) {
				f.usage.Prompt = s.count()
			}
		case "completion_tokens":
			if s.once(&seen, 2) {
				f.usage.Completion = s.count()
			}
		case "reasoning_tokens":
			if s.once(&seen, 4) {
				f.usage.Reasoning = s.count()
			}
		case "cached_tokens":
			if s.once(&seen, 8) {
				f.usage.Cached = s.count()
			}
		case "spec_verify_ct":
			if s.once(&seen, 16) {
				f.usage.Verifies = s.count()
			}
		case "cached_tokens_details":
			if s.once(&seen, 32) {
				f.usage.CachedBy = s.levels()
			}
		case "finish_reason":
			s.needNull()
		default:
			s.skip()
		}
	}
}

// levels consumes SGLang's object of cached tokens by level, or null; tokens from storage are the reference's affair.
func (s *scan) levels() (l bench.CacheLevels) {
	if s.null() {
		return l
	}
	if !s.open('{') {
		s.fail()
		return l
	}
	seen := uint(0)
	for first := true; ; {
		key, more := s.key(&first)
		if !more {
			return l
		}
		switch string(key) {
		case "device":
			if s.once(&seen, 1) {
				l.Device = s.count()
			}
		case "host":
			if s.once(&seen, 2) {
				l.Host = s.count()
			}
		case "storage":
			if s.once(&seen, 4) {
				if l.Storage = s.count(); l.Storage.Or(0) > 0 {
					s.fail()
				}
			}
		default:
			s.skip()
		}
	}
}

// finishWord returns a finish reason without allocating for the usual ones.
func finishWord(v []byte) string {
	switch string(v) {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "tool_calls":
		return "tool_calls"
	}
	return string(v)
}
