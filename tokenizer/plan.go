package tokenizer

// scanner finds the words of one pattern. It covers the text: every byte is in a word.
type scanner interface {
	// next returns the end of the word that begins at pos, which is below len(s).
	next(s string, pos int) int
}

// fastPath encodes plain text for a byte-level BPE model without making pieces: scanners cut it, from the coarsest
// to the finest, and words are merged as raw bytes.
type fastPath struct {
	bpe   *bpe
	scans []scanner
}

// plan picks the way the tokenizer encodes. The pieces stay as the reference path.
func (t *Tokenizer) plan() {
	b, ok := t.model.(*bpe)
	if !ok {
		return
	}
	if b.bytes != nil {
		if scans, ok := scannersOf(t.pre); ok {
			t.fast = &fastPath{b, scans}
			return
		}
	}
	t.safe = newSafeSplit(b)
}

// scannersOf returns scanners that cut as pre does, if pre ends in a byte-level step and each step is one known.
func scannersOf(pre []preTokenizer) ([]scanner, bool) {
	if len(pre) == 0 {
		return nil, false
	}
	last, ok := pre[len(pre)-1].(preByteLevel)
	if !ok || last.prefixSpace {
		return nil, false
	}
	var scans []scanner
	for _, p := range pre[:len(pre)-1] {
		s, ok := scannerOf(p)
		if !ok {
			return nil, false
		}
		scans = append(scans, s)
	}
	if last.words {
		scans = append(scans, gpt2Scan{})
	}
	return scans, true
}

func scannerOf(p preTokenizer) (scanner, bool) {
	switch x := p.(type) {
	case digitCut:
		return x, true
	case scanCut:
		return x.scanner, true
	case preSplit:
		// Patterns that cover the text leave nothing between matches, so these mean the same.
		if scan, ok := x.find.(scanMatcher); ok && (x.b == isolated && !x.invert || x.b == removed && x.invert) {
			return scan.scanner, true
		}
	}
	return nil, false
}
