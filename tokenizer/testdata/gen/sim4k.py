"""Train servemark/sim-4k, the tokenizer that is built into the program.

Usage: python sim4k.py OUT.json.gz      (needs tokenizers==0.23.*; the result is the same on every run)

The text it learns from is made here from word lists and sentence patterns: prose about everyday and technical things,
questions, lists, code and a little of other scripts. Nothing is copied from anywhere.
"""
import gzip
import io
import json
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = ["<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>"]
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SIZE = 4000

NOUNS = """time year people way day man thing woman life child world school state family student group country problem hand part place case week
company system program question work government number night point home water room mother area money story fact month lot right study book eye job
word business issue side kind head house service friend father power hour game line end member law car city community name president team minute
idea body information back parent face others level office door health person art war history party result change morning reason research girl guy
moment air teacher force education server model token request latency batch memory cache queue stream router network client answer prompt context
window layer weight gradient vector matrix kernel thread process engine cluster node measure schedule sample error median quantile report summary
table chart graph value limit budget price cost speed rate burst load test plan trace record journal clock second river mountain forest ocean island
bridge road garden kitchen bread coffee tea apple orange music song dance film picture colour light shadow summer winter spring autumn storm rain snow
wind star moon sun planet engineer doctor nurse farmer artist writer reader lawyer driver pilot captain village town street market station train
airport ticket letter message page chapter language grammar sentence paragraph poem novel library museum science physics chemistry biology
mathematics algorithm function variable constant string integer array list tree map set file folder image audio video camera phone computer screen
keyboard button menu option default version release feature bug patch review comment branch merge commit test suite example tutorial guide""".split()
VERBS = """be have do say get make go know take see come think look want give use find tell ask work seem feel try leave call need become put mean keep
let begin help talk turn start show hear play run move like live believe hold bring happen write provide sit stand lose pay meet include continue set
learn change lead understand watch follow stop create speak read allow add spend grow open walk win offer remember love consider appear buy wait serve
die send expect build stay fall cut reach kill remain suggest raise pass sell require report decide pull return explain hope develop carry break receive
agree support hit produce eat cover catch draw choose measure compare compute encode decode generate sample schedule stream parse store load train
evaluate tune cache batch route shard merge split retry cancel finish abort accept reject count sort filter group join print format convert""".split()
ADJS = """good new first last long great little own other old right big high different small large next early young important few public bad same able
human local late hard major better economic strong possible whole free military true federal international full special easy clear recent certain
personal open red difficult available likely short single medical current wrong private past foreign fine common poor natural significant similar hot
dead central happy serious ready simple left physical general environmental financial blue democratic dark various entire close legal religious cold
final main green nice huge popular traditional cultural slow fast quick warm empty stable exact precise random parallel concurrent static dynamic
virtual remote global sparse dense linear optimal average maximum minimum total partial valid invalid unknown missing empty quiet noisy steady""".split()
ADVS = """up so out just now how then more also here well only very even back there down still in as too when never really most about over why again
often always sometimes usually quickly slowly carefully simply exactly nearly almost finally recently clearly probably perhaps certainly together
however therefore instead otherwise meanwhile""".split()
FUNC = """the of and to a in that it is was for on with he as you at this but his by from they we say her she or an will my one all would there their
what so if about who which go me when can no just him into your some could them other than then its only over also after""".split()
NAMES = """Alice Robert Maria Chen Priya Omar Elena Kofi Yuki Lars Fatima David Sofia Tomas Ingrid Paulo Berlin Paris Tokyo Delhi Lagos Lima Oslo Cairo
Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November December""".split()
OTHER = """El tiempo es bueno y la casa está cerca del mar. Nous allons au marché avec les enfants et le chien. Das ist eine gute Frage, aber die Antwort ist
nicht einfach. O sistema responde em poucos segundos. La risposta arriva subito dopo la domanda. Het antwoord komt snel. Сегодня хорошая погода и мы
идём гулять. Это простой вопрос о времени ответа. 今天天气很好，我们去公园。这个问题很简单，答案在下面。 今日はいい天気です。質問に答えてください。
안녕하세요, 오늘은 날씨가 좋습니다. مرحبا كيف حالك اليوم. שלום מה שלומך. आज मौसम अच्छा है। สวัสดีครับ วันนี้อากาศดี Γειά σου, τι κάνεις σήμερα;""".split("\n")
CODE = """def {n}_{m}({n}, {m}=None):
    \"\"\"Return the {a} {n}.\"\"\"
    if {m} is None:
        return {d}
    for i in range(len({n})):
        {m}[i] += {n}[i] * {d}
    return {m}
@func {N}{M}(ctx context.Context, {n} []int) (int, error) {{
\tif err := ctx.Err(); err != nil {{
\t\treturn 0, fmt.Errorf("{v} {n}: %w", err)
\t}}
\tfor i, x := range {n} {{
\t\tsum += x
\t}}
\treturn sum, nil
}}
@const {n} = await {v}{M}({{ {m}: "{a}", limit: {d} }});
console.log({n}.length);
@{{"{n}": {d}, "{m}": "{a}", "items": [{{"id": {d}, "name": "{n}"}}], "ok": true}}
@SELECT {n}, COUNT(*) AS total FROM {m}s WHERE {n} > {d} GROUP BY {n} ORDER BY total DESC;
@<div class="{n}"><a href="https://www.example.com/{m}/{d}.html">{a} {n}</a></div>
@$ {v} --{n} {d} --{m}={a} http://localhost:{d}/v1/chat/completions | grep {n}
""".split("@")


def plural(r, n):
    if r.random() < 0.7:
        return n
    return n[:-1] + "ies" if n.endswith("y") else n + ("es" if n[-1] in "shx" else "s")


def verb(r, v):
    k = r.random()
    if k < 0.4:
        return v
    stem = v[:-1] if v.endswith("e") else v
    return v + "s" if k < 0.6 else stem + ("ing" if k < 0.8 else "ed")


def derived(r):
    pre = r.choice(["", "", "", "re", "un", "in", "dis", "over", "pre", "inter", "under", "non", "sub", "multi", "auto"])
    suf = r.choice("tion ment ness able less ful ly er or ist ism ity ance ence al ive ous ize ized izing ation ical ship hood ward".split())
    return pre + r.choice(VERBS + ADJS) + suf


def sentence(r):
    out = []
    for _ in range(r.randint(1, 3)):
        out += [r.choice(FUNC[:40]), r.choice(ADJS), plural(r, r.choice(NOUNS)), verb(r, r.choice(VERBS)), r.choice(FUNC)]
        if r.random() < 0.5:
            out += [r.choice(ADVS), r.choice(FUNC), plural(r, r.choice(NOUNS))]
        if r.random() < 0.2:
            out.append(r.choice(NAMES))
        if r.random() < 0.15:
            out.append(derived(r))
        if r.random() < 0.1:
            out.append(str(r.choice([r.randint(0, 99), r.randint(1900, 2030), r.randint(0, 10**6), round(r.random() * 100, 2)])))
        if r.random() < 0.15:
            out.append(r.choice(["don't", "it's", "we're", "I'm", "can't", "they've", "you'll", "that's"]))
        out[-1] += r.choice(["", "", "", ",", ",", ";", ":"])
    s = " ".join(out).rstrip(",;:")
    return s[0].upper() + s[1:] + r.choice([".", ".", ".", ".", "?", "!", "..."])


def code(r):
    n, m = r.choice(NOUNS), r.choice(NOUNS)
    return r.choice(CODE).format(n=n, m=m, N=n.title(), M=m.title(), v=r.choice(VERBS), a=r.choice(ADJS), d=r.randint(0, 9999))


def texts():
    r = random.Random(4000)
    for _ in range(12000):
        k = r.random()
        if k < 0.70:
            yield " ".join(sentence(r) for _ in range(r.randint(1, 6))) + r.choice(["", "\n", "\n\n"])
        elif k < 0.80:
            yield "\n".join(f"{i + 1}. {sentence(r)}" for i in range(r.randint(2, 5))) + "\n"
        elif k < 0.86:
            yield "\n".join(f"- **{r.choice(NOUNS).title()}**: {sentence(r)}" for _ in range(3)) + "\n\n## " + r.choice(NOUNS).title() + "\n"
        elif k < 0.97:
            yield code(r)
        else:
            yield r.choice(OTHER)


def main():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    t.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        show_progress=False,
        special_tokens=[AddedToken(s, special=True, normalized=False) for s in SPECIAL],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    t.train_from_iterator(texts(), trainer)
    assert t.get_vocab_size() == SIZE, t.get_vocab_size()
    text = json.dumps(json.loads(t.to_str()), ensure_ascii=False, separators=(",", ":"))
    buf = io.BytesIO()
    with gzip.GzipFile(fileobj=buf, mode="wb", mtime=0, compresslevel=9) as z:
        z.write(text.encode())
    with open(sys.argv[1], "wb") as f:
        f.write(buf.getvalue())


if __name__ == "__main__":
    main()
