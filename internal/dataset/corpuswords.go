package dataset

import "strings"

// The word lists of the embedded corpus. They are written for it; changing them changes every prompt made from it and
// builtInSlope with them.

var nouns = strings.Fields(`
anchor apple archive arch banner barge barn basket battery beacon bell bench bicycle boat boiler bottle boundary bracket bridge
brook bucket budget builder cabin cable camera canal candle carpet carriage castle catalogue cellar chain chapel chapter chart
cherry chimney circuit clay cliff clock cloud coach coast collector column compass concert container copper corner cottage cotton
counter course court crane crater crew cupboard current curtain customer cylinder dairy dam deck desert diagram diary dock doctor
draft drawer driver drum editor elbow engine engineer envelope essay estate evening factory farmer feather fence ferry festival
field filter flag flame flute forest fountain frame furnace gallery garden gate gauge generator glacier glove grain guest guitar
hammer harbour harvest hedge helmet herd hill hinge hook hotel index inspector instrument island jacket jar journal journey judge
junction kettle keyboard kitchen ladder lamp lane lantern layer leaf lecture ledger lemon lens letter lever library lighthouse list
loaf lock locomotive loom machine magnet manual map market mason meadow meal mechanic memory merchant meter mill mine mirror model
monument motor mountain museum nail needle neighbour nest network notebook nurse oar oak ocean office onion orange orbit orchard
organ outline oven owner packet paddle painter panel parcel parish passenger path pattern pearl pencil pepper piano picture pier
pilot pipe planet plank plate platform plough pocket poem pond porch porter postcard potato printer profile pulley pump quarry
question queue radio railway rain recipe record reef report reservoir ribbon ridge river road robin roof rope route sailor sample
scale schedule scholar school sculptor season sensor shelf shepherd ship shore shutter signal sketch slope smith socket soldier
song sparrow spoon spring square stable staircase station steamer stone storm story stove stream street student studio summary
summit surface survey switch table tailor tank teacher telescope temple tenant theatre thread ticket tide timber tool tower town
track trader tractor train tray tree trench triangle tunnel turbine valley valve vessel village vine violin visitor voyage wagon
wall warehouse watch wave weaver well wheel whistle window winter wire witness worker workshop yard`)

var adjectives = strings.Fields(`
able amber ancient average bare bitter blue bold brief bright broad broken calm careful certain cheap clean clear clever coarse
cold common complete cool correct curious damp dark deep dense distant double dry dull dusty eager early easy empty equal exact
faint fair famous fast final firm flat foreign formal fragile free fresh full gentle golden grey green heavy hidden high hollow
honest humble idle iron large late lazy light little local lonely long loose loud low main mild modern narrow neat new noisy
northern odd old open ordinary outer pale patient perfect plain pleasant polite poor precise previous private proud public quick
quiet rapid rare ready recent regular remote rich rough round rusty safe secret separate serious shallow sharp short silent silver
similar simple single slow small smooth soft solid sour southern spare square steady steep still strange strict strong sudden
sweet swift tall thick thin tidy tiny tired upper urgent useful usual vast visible warm weak western wet whole wide wild wooden
yellow young`)

var pasts = strings.Fields(`
accepted adjusted answered arranged balanced borrowed bought built carried changed checked chose cleaned closed collected compared
copied counted covered crossed delivered described designed discovered divided drew drove emptied entered examined explained filled
finished fixed followed found gathered guarded hired hid improved inspected joined kept labelled left lifted listed loaded lost
lowered made measured mended missed moved noticed numbered offered opened ordered packed painted passed planned planted polished
prepared printed promised pulled pushed raised reached received recorded removed repaired replaced reported rescued returned rowed
sealed searched sent served shared showed signed sketched sold sorted started steered stored studied tested tied took towed traced
tuned turned visited walked washed watched weighed wrote`)

var verbs = strings.Fields(`
answer arrange balance borrow build carry change check clean close collect compare copy count cover cross deliver describe design
divide draw drive empty examine explain fill finish fix follow gather guard improve inspect join keep label lift list load lower
measure mend move notice number offer open order pack paint plan plant polish prepare print pull push raise reach record remove
repair replace report return seal search send serve share show sign sketch sort start steer store study test tie trace tune turn
visit walk wash watch weigh write`)

var names = strings.Fields(`
Ada Agnes Albert Amara Anders Anton Beatrix Bruno Carla Cedric Chiara Clara Dmitri Edith Elena Emil Farid Fatima Felix Freya
Gustav Hana Henrik Hugo Ines Ingrid Isaac Jakob Jonas Julia Karim Kenji Lars Leila Leon Lucia Magnus Marta Matteo Mei Miriam
Nadia Nils Noor Olga Oscar Otto Paula Pavel Petra Rafael Rosa Ruth Samir Sofia Stefan Sven Tariq Theo Tomas Ursula Viktor Wanda
Yusuf Zara`)

var places = []string{
	"at the north gate", "behind the old mill", "below the bridge", "beside the canal", "near the harbour wall", "in the back room",
	"on the upper deck", "under the station roof", "along the coast road", "across the valley", "inside the boiler house",
	"above the market square", "at the edge of the wood", "between the two piers", "on the third floor", "by the kitchen door",
	"in the reading room", "outside the town hall", "at the end of the lane", "on the far side of the lake", "in the middle drawer",
	"next to the weather mast", "over the loading bay", "at the foot of the stairs", "among the apple trees", "in front of the chapel",
}

var times = []string{
	"before noon", "after the first snow", "on Tuesday", "late in the evening", "during the long summer", "at half past six",
	"in the second week of May", "shortly before dawn", "when the tide turned", "for the third time", "within the hour",
	"by the end of the month", "as soon as the rain stopped", "every other day", "once the bell had rung", "while the others slept",
	"on the last day of the fair", "in early spring", "between two trains", "without any hurry", "long before that", "this morning",
}

var openings = []string{
	"Write a short report about the {a} {n} and the {a} {n} {p}",
	"{w} asks why the {n} was {v} {t}; answer in a few plain sentences",
	"Summarise the following notes on {a} {ns} and {a} {ns} for {w}",
	"Explain to a {a} {n} how to {i} a {n} and {i} the {n}",
	"Continue the story of {w}, who {v} a {a} {n} {p}",
	"List the {ns} named below and say which {n} {w} {v} {t}",
	"Translate the account of the {a} {n} that {w} {v} {p}",
	"Compare the {n} of {w} with the {n} of {w}, {t}",
	"A letter from {w} to {w} about {#} {ns} and one {a} {n}",
	"Correct the minutes of the meeting {p}, where {w} {v} the {n}",
	"Give {#} reasons to {i} the {a} {n} {t}",
	"Notes for {w}: the {n}, the {n} and the {a} {n}",
	"Check whether {w} or {w} {v} the {a} {n} {p}",
	"What did {w} mean by a {a} {n} and a {a} {n}",
	"Plan a visit to the {n} and the {n} {p} for {#} {ns}",
	"Describe {a} {ns} as {w} would to a {a} {n}",
}

var sentences = []string{
	"the {a} {n} was {v} {p}, and {w} {v} the {n} {t}.",
	"{w} {v} the {n} and {v} a {a} {n} {t}.",
	"nobody {v} the {n} until {w} {v} it {p}.",
	"if the {n} is {a}, {i} the {n} first and {i} the {a} {n} later.",
	"there were {ns} and {ns} {p}, but only one {a} {n}.",
	"{t}, {w} and {w} {v} the {a} {n} that the {n} had {v}.",
	"a {a} {n} does not {i} a {n}, however {a} the {n} may be.",
	"they {v} every {n} {p}; the {a} ones were {v} {t}.",
	"it took the {n} a long time to {i} what {w} had {v}.",
	"\"We should {i} the {n},\" said {w}, \"and {i} the {a} {n} {t}.\"",
	"the {ns} of {w} were {a}, yet the {n} {p} was {a} and {a}.",
	"because the {n} had been {v}, the {n} could not {i} the {n}.",
	"{w} thought that the {n} {p} looked {a}, and {v} it.",
	"to {i} a {a} {n} you need a {n}, a {n} and a {a} {n}.",
	"some {ns} are {a}; others, like the {n} {p}, are {a}.",
	"the {n} which {w} {v} {t} is now the {a} {n} of the {n}.",
	"{p} a {a} {n} waits for someone to {i} it {t}.",
	"most of the {ns} were {v} by {w}, the rest by a {a} {n}.",
	"the {n} and its {n} remained {a} although the {n} was {v} {t}.",
	"{w}'s {n} had a {a} {n}, which was {v} {p}.",
	"it is {a} to {i} the {n} before the {n} is {v}.",
	"when the {a} {n} was {v}, the {ns} {p} were {a} again.",
	"not far from the {n}, {w} {v} a {n} full of {a} {ns}.",
	"the {n} depends on the {n}: a {a} one will {i} it, a {a} one will not.",
}

var figures = []string{
	"the {n} costs {#}.{#} euros, {#} of them are left, and {w} {v} {##} in all.",
	"between {#} and {#} {ns} weigh {.} kg each, or {##} kg together.",
	"on 1{#}/0{#} at {#}:{#} the {n} read {.} degrees; a {n} later it read {.}.",
	"table {#}: {n} {.}, {n} {.}, {n} {.}, total {##} (error {.} %).",
	"of {##} {ns}, {#} % were {a} and {#} were {v} {t}.",
	"the {n} is {##} m long, {#} m wide and {.} m deep {p}.",
	"order no. {##}-{#}: {#} {ns}, {#} {ns}, one {a} {n}.",
	"in 19{#} the {n} had {##} {ns}; by 20{#} it had {##}.",
}

var questions = []string{
	"which {n} did {w} {i} {p}?",
	"why is the {n} so {a}, and who {v} the {n} {t}?",
	"how many {ns} does a {a} {n} need {t}?",
	"please {i} the {n} {p} and {i} the {a} {n}!",
	"would {w} rather {i} a {a} {n} or a {n} {p}?",
	"first {i} the {ns}, then {i} the {n}; do not {i} the {a} one.",
	"where was the {a} {n} when {w} {v} the {n}?",
	"could a {n} {i} {#} {ns} {t}?",
}

var code = []string{
	"for i in range({#}):\n    {n} += {n}[i] * {.}  # {a} {n}",
	"SELECT {n}, count(*) FROM {ns} WHERE {n} > {.} GROUP BY {n};",
	"if err := {n}.Open(\"{n}.txt\"); err != nil {ob} return err }",
	"const {n} = {ns}.filter(x => x.{n} >= {#});",
	"{ob}\"{n}\": {#}, \"{a}\": [{.}, {.}], \"ok\": true}",
	"def {n}_{n}(x, y={#}):\n    return x * y + {.}",
	"$ grep -c {n} /var/log/{n}.log | sort -n",
	"<p class=\"{a}\">{n} <b>{#}</b></p>",
}

var foreign = []string{
	"Der alte Kran am Hafen läuft seit gestern wieder.", "Die Brücke über den Fluss wird im März geöffnet.",
	"Le phare éclaire la côte jusqu'à l'île voisine.", "Elle a rangé les outils avant l'arrivée du train.",
	"El río baja crecido y el molino está parado.", "¿Quién abrió la puerta del jardín esta mañana?",
	"A padaria fecha às sete, mas o café não.", "Il mercato è più tranquillo dopo le undici.",
	"Båten går från bryggan klockan åtta varje dag.", "Stary młyn nad rzeką jest już naprawiony.",
	"Поезд пришёл на станцию позже, чем мы ждали.", "Το παλιό ρολόι χτυπά κάθε μία ώρα.",
	"港口的灯塔每天晚上都亮着。", "请把第三个箱子放在窗边。", "川の橋は来週から通れます。", "図書館で古い地図を見つけました。",
	"시장 옆 다리는 아침에 열립니다.", "القطار يصل إلى المحطة بعد الظهر.", "नदी के पास पुराना पुल है।", "Köprü yarın sabah yeniden açılıyor.",
}
