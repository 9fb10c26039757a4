"""Random tokenizers that use every component of the reference library with every setting."""
import json

from tokenizers import Tokenizer

from draw import ODD, SPACES, WORDS

CHARS = sorted(
    set("".join(WORDS + SPACES + ODD)) | {chr(c) for c in range(33, 0x250)} | {chr(c) for c in range(0x300, 0x345)} | {chr(c) for c in range(0xAC00, 0xAC40)} | set("▁ĠĊ中文字")
)
REGEX = [
    r"\s+", r"\d+", r"\w+|[^\w\s]+", r"\p{N}{1,3}", r" ?\p{L}+", r"[^\s\p{L}]+|\s", r"(?i:'s|'t)|\p{L}+", r"\s+(?!\S)|\s+", r"[\p{Lu}\p{M}&&[^A-F]]+", r"[a-z]{2,4}?", r"\p{Han}+|\p{Hiragana}+",
    r"[\w]+|\w", r"[^\w]+", r"[[:word:]]{2}", r"[[:punct:]]+", r"\p{Punct}|[[:alpha:]]+", r"[[:upper:]][[:lower:]]*|[[:blank:]]", r"[[:alnum:]&&[^0-9]]+", r"[[:print:]]{3}", r"[^[:graph:]]",
    r"(?<=a)b|x*", r"[[:digit:]]|[^[:space:]]", r"a|b|", r"(?>a+)b?", r"\bt\w", r"$|^", r"\p{P}|\p{S}",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def pattern(r):
    return {"String": r.choice([" ", "a", "the", "▁", "\n", "  ", "."])} if r.random() < 0.4 else {"Regex": r.choice(REGEX)}


def flag(r):
    return r.random() < 0.5


def normalizer(r, deep=True):
    k = r.choice(["none", "seq", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "StripAccents", "ByteLevel", "Strip", "Prepend", "Replace", "Bert"])
    if k == "none":
        return None
    if k == "seq":
        return {"type": "Sequence", "normalizers": [n for n in (normalizer(r, False) for _ in range(r.randint(0, 4))) if n]} if deep else None
    if k == "Strip":
        return {"type": "Strip", "strip_left": flag(r), "strip_right": flag(r)}
    if k == "Prepend":
        return {"type": "Prepend", "prepend": r.choice(["▁", "x", "ab "])}
    if k == "Replace":
        return {"type": "Replace", "pattern": pattern(r), "content": r.choice(["", "▁", "x", " "])}
    if k == "Bert":
        return {"type": "BertNormalizer", "clean_text": flag(r), "handle_chinese_chars": flag(r), "strip_accents": r.choice([None, True, False]), "lowercase": flag(r)}
    return {"type": k}


def pre_tokenizer(r, deep=True):
    k = r.choice(["none", "seq", "seq", "ByteLevel", "Split", "Split", "Split", "Metaspace", "Digits", "WhitespaceSplit", "Whitespace", "Punctuation", "BertPreTokenizer", "CharDelimiterSplit", "FixedLength", "UnicodeScripts"])
    if k == "none":
        return None
    if k == "seq":
        return {"type": "Sequence", "pretokenizers": [p for p in (pre_tokenizer(r, False) for _ in range(r.randint(1, 4))) if p]} if deep else None
    if k == "ByteLevel":
        return {"type": k, "add_prefix_space": flag(r), "trim_offsets": True, "use_regex": flag(r)}
    if k == "Split":
        return {"type": k, "pattern": pattern(r), "behavior": r.choice(BEHAVIORS), "invert": flag(r)}
    if k == "Metaspace":
        return {"type": k, "replacement": r.choice("▁_"), "prepend_scheme": r.choice(["always", "first", "never"]), "split": flag(r)}
    if k == "Digits":
        return {"type": k, "individual_digits": flag(r)}
    if k == "Punctuation":
        return {"type": k, "behavior": r.choice(BEHAVIORS)}
    if k == "CharDelimiterSplit":
        return {"type": k, "delimiter": r.choice("a .▁")}
    if k == "FixedLength":
        return {"type": k, "length": r.randint(1, 6)}
    return {"type": k}


def decoder(r, deep=True):
    k = r.choice(["none", "seq", "seq", "ByteLevel", "ByteFallback", "Fuse", "Metaspace", "Replace", "Strip", "WordPiece", "BPEDecoder", "CTC"])
    if k == "none":
        return None
    if k == "seq":
        return {"type": "Sequence", "decoders": [d for d in (decoder(r, False) for _ in range(r.randint(1, 4))) if d]} if deep else None
    if k == "ByteLevel":
        return {"type": k, "add_prefix_space": flag(r), "trim_offsets": True, "use_regex": flag(r)}
    if k == "Metaspace":
        return {"type": k, "replacement": "▁", "prepend_scheme": r.choice(["always", "first", "never"]), "split": flag(r)}
    if k == "Replace":
        return {"type": k, "pattern": pattern(r), "content": r.choice(["", " ", "x"])}
    if k == "Strip":
        return {"type": k, "content": r.choice(" a▁"), "start": r.randint(0, 2), "stop": 0}
    if k == "WordPiece":
        return {"type": k, "prefix": r.choice(["##", "a"]), "cleanup": flag(r)}
    if k == "BPEDecoder":
        return {"type": k, "suffix": r.choice(["</w>", "a"])}
    if k == "CTC":
        return {"type": k, "pad_token": "a", "word_delimiter_token": r.choice("|e"), "cleanup": flag(r)}
    return {"type": k}


def added(r):
    out = []
    for i, c in enumerate(["<s>", "</s>", "<x>", "<xy>", "the", "café", " a", "Ab", "\n\n", "[MASK]"]):
        if r.random() < 0.4:
            out.append({"id": 900000 + i, "content": c, "single_word": r.random() < 0.3, "lstrip": r.random() < 0.3, "rstrip": r.random() < 0.3, "normalized": flag(r), "special": flag(r)})
    return out


def distinct(tokens, norm):
    """Without tokens that normalisation empties or makes equal: the library then splits everywhere, or picks by chance."""
    if norm is None:
        return tokens
    t = Tokenizer.from_str(json.dumps({"version": "1.0", "normalizer": norm, "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}}))
    seen, out = {""}, []
    for a in tokens:
        c = t.normalizer.normalize_str(a["content"])
        if a["normalized"]:
            if c in seen:
                continue
            seen.add(c)
        out.append(a)
    return out


def model(r):
    k = r.choice(["BPE", "BPE", "BPE", "Unigram", "WordPiece", "WordLevel"])
    if k == "BPE":
        return bpe(r)
    parts = sorted({w[a:b] for w in WORDS for a in range(len(w)) for b in range(a + 1, len(w) + 1) if r.random() < 0.3})
    if k == "Unigram":
        vocab = [["<unk>", 0.0]] + [[c, -r.random() * 12] for c in sorted(set(CHARS + parts + ["▁", "▁the", "▁a"])) if r.random() < 0.8]
        if flag(r):
            vocab += [[f"<0x{b:02X}>", -r.random() * 20] for b in range(256)]
        return {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": flag(r)}
    if k == "WordPiece":
        words = ["[UNK]"] + sorted(set(c for c in CHARS if r.random() < 0.9) | set("##" + c for c in CHARS if r.random() < 0.9) | set(parts) | set("##" + p for p in parts))
        return {"type": k, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": r.choice([5, 100]), "vocab": {w: i for i, w in enumerate(words)}}
    words = ["<unk>"] + sorted(set(CHARS) | set(parts) | set(WORDS))
    return {"type": k, "unk_token": "<unk>", "vocab": {w: i for i, w in enumerate(words)}}


def bpe(r):
    prefix = r.choice([None, None, "", "##"])
    suffix = r.choice([None, None, "", "|"])
    vocab = {"<unk>": 0}

    def put(t):
        vocab.setdefault(t, len(vocab))

    for c in CHARS:
        if r.random() < 0.93:
            put(c)
            for t in {(prefix or "") + c, c + (suffix or ""), (prefix or "") + c + (suffix or "")}:
                put(t)
    if flag(r):
        for b in range(256):
            if r.random() < 0.999:
                put(f"<0x{b:02X}>")
    merges, seen = [], set()
    for _ in range(r.choice([0, 50, 400])):
        a, b = r.choice(list(vocab)[1:2000]), r.choice(list(vocab)[1:])
        if r.random() < 0.7:
            w = r.choice(WORDS)
            if len(w) < 2:
                continue
            i = r.randrange(len(w) - 1)
            a, b = (prefix or "" if i else "") + w[i], (prefix or "") + w[i + 1]
            if merges and flag(r):
                m = r.choice(merges)
                a = m[0] + m[1][len(prefix or "") :]
        if prefix and not b.startswith(prefix) or (a, b) in seen or " " in a + b or a not in vocab or b not in vocab:
            continue
        seen.add((a, b))
        put(a + b[len(prefix or "") :])
        merges.append([a, b])
    return {
        "type": "BPE", "dropout": None, "unk_token": r.choice([None, "<unk>"]), "continuing_subword_prefix": prefix, "end_of_word_suffix": suffix,
        "fuse_unk": flag(r), "byte_fallback": flag(r), "ignore_merges": r.random() < 0.3, "vocab": vocab, "merges": merges if flag(r) else [" ".join(m) for m in merges],
    }


def post_processor(r, m):
    first = next(iter(m["vocab"])) if isinstance(m["vocab"], dict) else m["vocab"][0][0]
    k = r.choice(["none", "ByteLevel", "Bert", "Roberta", "Template", "seq"])
    template = {
        "type": "TemplateProcessing", "single": r.choice([[{"SpecialToken": {"id": "t", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "t", "type_id": 0}}]]),
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": {"t": {"id": "t", "ids": r.choice([[1], [1, 2]]), "tokens": []}},
    }
    template["special_tokens"]["t"]["tokens"] = [first] * len(template["special_tokens"]["t"]["ids"])
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    if k == "none":
        return None
    if k == "ByteLevel":
        return level
    if k == "Bert":
        return {"type": "BertProcessing", "sep": [first, 1], "cls": [first, 2]}
    if k == "Roberta":
        return {"type": "RobertaProcessing", "sep": [first, 1], "cls": [first, 2], "trim_offsets": False, "add_prefix_space": True}
    return template if k == "Template" else {"type": "Sequence", "processors": [level, template]}


def pipeline(r):
    """The text of a random tokenizer.json."""
    m = model(r)
    norm = normalizer(r)
    return json.dumps(
        {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": distinct(added(r), norm), "normalizer": norm, "pre_tokenizer": pre_tokenizer(r),
            "post_processor": post_processor(r, m), "decoder": decoder(r), "model": m,
        },
        ensure_ascii=False,
    )
