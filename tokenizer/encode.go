package tokenizer

// encoder is the working memory of one Encode call, kept for the next.
type encoder struct {
	t      *Tokenizer
	cache  *wordCache
	work   scratch
	pieces []piece
	spare  []piece
}

// text appends the ids of a valid text.
func (e *encoder) text(dst []uint32, text string) ([]uint32, error) {
	t := e.t
	token := func(id uint32) { dst = append(dst, id) }
	if t.added.plain == nil && t.added.normal == nil {
		return e.segment(dst, text, true)
	}
	err := t.added.plain.each(text, func(from, to int) error {
		var err error
		dst, err = e.segment(dst, text[from:to], from == 0)
		return err
	}, token)
	return dst, err
}

// segment appends the ids of a part of the text that holds no plain added token.
func (e *encoder) segment(dst []uint32, s string, first bool) ([]uint32, error) {
	t := e.t
	if t.added.normal == nil && t.norm == nil && t.fast != nil {
		return e.words(dst, s), nil
	}
	n := normText{s: s}
	if first {
		n.zero = firstZero(normText{zero: 1}, s)
	}
	if t.norm != nil {
		if n = t.norm.normalize(n); n.err != nil {
			return dst, n.err
		}
	}
	whole := piece{n.s, n.zero}
	if t.added.normal == nil {
		return e.cutAndEncode(dst, whole)
	}
	err := t.added.normal.each(n.s, func(from, to int) error {
		var err error
		dst, err = e.cutAndEncode(dst, whole.part(from, to))
		return err
	}, func(id uint32) { dst = append(dst, id) })
	return dst, err
}

// cutAndEncode runs the pre-tokenizers and the model.
func (e *encoder) cutAndEncode(dst []uint32, p piece) ([]uint32, error) {
	t := e.t
	if t.fast != nil {
		return e.words(dst, p.s), nil
	}
	pieces := append(e.pieces[:0], p)
	for _, x := range t.pre {
		out := e.spare[:0]
		for _, p := range pieces {
			if p.s == "" {
				continue
			}
			var err error
			if out, err = x.split(out, p); err != nil {
				return dst, err
			}
		}
		e.spare, pieces = pieces, out
	}
	e.pieces = pieces
	var err error
	for _, p := range pieces {
		if dst, err = e.piece(dst, p.s); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// piece appends the ids of a piece that the pre-tokenizers made, in parts where that is safe.
func (e *encoder) piece(dst []uint32, s string) ([]uint32, error) {
	if e.t.safe == nil {
		return e.word(dst, s, 0, len(s))
	}
	var err error
	for pos := 0; pos < len(s); {
		end := e.t.safe.next(s, pos)
		if dst, err = e.word(dst, s, pos, end); err != nil {
			return dst, err
		}
		pos = end
	}
	return dst, nil
}

// word appends the ids of text[from:to] in the vocabulary's spelling.
func (e *encoder) word(dst []uint32, text string, from, to int) ([]uint32, error) {
	if to == from {
		return dst, nil
	}
	n := len(dst)
	if to-from <= inlineKey {
		lo, hi := pack(text, from, to)
		if slot := e.cache.slot(lo, hi); slot.n != 0 {
			return e.cache.appendSlot(dst, slot), nil
		}
		dst, err := e.t.model.appendWord(&e.work, dst, text[from:to])
		if err == nil {
			e.cache.putShort(lo, hi, dst[n:])
		}
		return dst, err
	}
	w := text[from:to]
	if ids, ok := e.cache.findLong(w); ok {
		return append(dst, ids...), nil
	}
	dst, err := e.t.model.appendWord(&e.work, dst, w)
	if err == nil {
		e.cache.putLong(w, dst[n:])
	}
	return dst, err
}

// words appends the ids of a text for a byte-level model with a known pattern.
func (e *encoder) words(dst []uint32, s string) []uint32 {
	f := e.t.fast
	if len(f.scans) == 1 {
		scan := f.scans[0]
		for pos := 0; pos < len(s); {
			end := scan.next(s, pos)
			dst = e.raw(dst, s, pos, end)
			pos = end
		}
		return dst
	}
	return e.nested(dst, s, f.scans)
}

// nested cuts s with the first scanner and each of its parts with the others.
func (e *encoder) nested(dst []uint32, s string, scans []scanner) []uint32 {
	for pos := 0; pos < len(s); {
		end := len(s)
		if len(scans) > 0 {
			end = scans[0].next(s, pos)
		}
		if len(scans) > 1 {
			dst = e.nested(dst, s[pos:end], scans[1:])
		} else {
			dst = e.raw(dst, s, pos, end)
		}
		pos = end
	}
	return dst
}

// raw appends the ids of the bytes text[from:to].
func (e *encoder) raw(dst []uint32, text string, from, to int) []uint32 {
	n := len(dst)
	if to-from <= inlineKey {
		lo, hi := pack(text, from, to)
		if slot := e.cache.slot(lo, hi); slot.n != 0 {
			return e.cache.appendSlot(dst, slot)
		}
		dst = e.t.fast.bpe.appendShort(&e.work, dst, text[from:to], lo, hi)
		e.cache.putShort(lo, hi, dst[n:])
		return dst
	}
	w := text[from:to]
	if ids, ok := e.cache.findLong(w); ok {
		return append(dst, ids...)
	}
	dst = e.t.fast.bpe.appendLong(&e.work, dst, w)
	e.cache.putLong(w, dst[n:])
	return dst
}
