"""Short clauses from which sentences are put together, so that pages of one host share few phrases of six words.

Every genre's sentence is an opening, somebody, what they do, to what, and a tail; the parts are short on purpose.
"""
# ruff: noqa: E501 - one sentence a line; lists of words read better as a string

from __future__ import annotations

_SHAPES = (
    "[opening_clause] [who] [does] [what] [tail].",
    "[who] [does] [what], [aside], [tail].",
    "[opening_clause] [who] [does] [what], and [who] [does] [what].",
    "[who] [does] [what] [tail]; [who] [does] [what].",
)
_COPIES = 5


def _clauses(*columns: str) -> dict[str, list[str]]:
    parts = dict(zip(("opening_clause", "who", "does", "what", "tail", "aside"), columns, strict=True))
    grammar = {name: [part.strip() for part in text.split("|")] for name, text in parts.items()}
    return {**grammar, "made": list(_SHAPES) * _COPIES}


NEWS_CLAUSES = _clauses(
    "On [weekday],|By [month]|For now|In private,|Late last [season],|Since [1994-2021],|After a recess,|Under pressure,|This week|Once again",
    "[leader]|[critic]|[body]|the mayor|a junior clerk|the inspector|[place] parish|the contractor|one [trade]|the minister|a retired judge|"
    "the archivist|[first] [last]|the crew|nobody on the panel|the auditor|the union|a neighbour|the landlord|the [trade] next door",
    "questioned|quietly dropped|published|measured|photographed|defended|paid for|rewrote|walked away from|welcomed|delayed|inherited|"
    "lost|demanded|set aside|promised|underestimated|read out|signed|withdrew|mislaid|voted against|borrowed|priced|dug up",
    "the [second/third/missing] survey|[few] letters|a lease from [1902-1987]|the bill for [sand/gravel/timber]|[12-90] new lamps|"
    "the drainage plan|an apology|a crate of ledgers|the ferry timetable|the bronze plaque|a temporary ramp|[few] parking spaces|"
    "the old bye-law|a grant of £[11-95],000|the keys|a safety notice|the noise limit|half the budget|a ceremony|the school bus stop|"
    "a [granite/wooden/concrete] stair|the petition|a model in balsa|the bell|[few] pumps",
    "without explanation|before breakfast|in front of cameras|to general surprise|at the third attempt|in [place]|for [few] weeks|"
    "under a tarpaulin|by a single vote|with some relief|out of season|on legal advice|despite the rain|in a car park in [place]|"
    "over the objections of [place]|for the first time since [1951-2015]|at a cost of £[200-900]|behind closed doors|until [month]|after dark",
    "as promised|it seems|on paper at least|not for the first time|to judge by the minutes|rather late|by all accounts|somewhat grudgingly",
)
SHOP_CLAUSES = _clauses(
    "On the hill|In the workshop|After [few] winters|With wet hands|Out of the bag|On [place]|Over [few] nights|Beside a lesser [kind]|"
    "At this price|In a crosswind|Before dawn|Under load",
    "the [colour] strap|the [material]|[first]|our tester in [place]|the outer layer|the hem|the buckle|a spare loop|the new lid|the seam|"
    "the back panel|the base|the [kind]|the repair bench|a second zip|the elastic|the handle|[surname] from accounts|the drawcord|the foot",
    "keeps|outlasts|forgives|protects|holds|sheds|grips|carries|ignores|tolerates|replaces|steadies|swallows|covers|stiffens|evens out|"
    "quietens|balances|survives|takes",
    "[few] days of sleet|a wet rope|[2-9] kilos of apples|loose gravel|an angry sheep|tea at full boil|[colour] mud|a careless boot|"
    "salt spray|the morning's bread|a [material] mug|cold fingers|a torn map|[few] spare socks|the worst of the wind|a bicycle lamp|"
    "sharp heather|late buses|damp matches|the dog's share",
    "without a murmur|better than expected|at minus [2-12]|for [few] seasons|on the train home|from [place] to [place]|with room left|"
    "and dries overnight|in most pockets|for children too|once waxed|at any angle|by feel alone|day after day|in a pinch|without creasing",
    "to our surprise|if you let it|size for size|gram for gram|within reason|so far|despite its looks|in our hands",
)
FORUM_CLAUSES = _clauses(
    "In my experience|On mine|Last [weekday]|Back in [1979-2022]|If memory serves,|On the [place] side|For what it's worth,|Funnily enough|"
    "After a brew|Against advice|With the cover off|First of all,",
    "the [part]|a worn [part]|my old [thing]|the previous owner|my neighbour|[first] from the club|a bloke in [place]|the manual|"
    "a cheap [part]|the whole [thing]|the seller|my father|the lower [part]|a good clamp|the left [part]|somebody",
    "needed|ruined|saved|hides|bends|wants|eats|loosened|replaced|swore at|misread|shims|straightened|cooked|sold me|glued|sharpened|"
    "drowned|split|painted over|drilled out|rescued",
    "a [8-60] mm washer|the other [part]|[few] teaspoons of grease|a strip of felt|half a tin of varnish|the mounting plate|an oak wedge|"
    "[few] good bolts|the seat of the [part]|a bucket of grit|copper wire|the thread|a new [part] from [place]|the [season] crop|"
    "my patience|a length of hose|the cotter pin|[2-30] pounds of lead|the drawing|a perfectly good [part]",
    "in about [few] minutes|with a soft hammer|on the kitchen table|twice|before lunch|for under [5-60] quid|without cracking it|"
    "and never looked back|during the frost of [1981-2018]|by candlelight|in the wrong order|against the grain|with the dog watching|"
    "at the third go|outdoors|a quarter turn too far|in [month]",
    "of course|bless him|as usual|no joke|so they say|touch wood|more or less|heaven knows why",
)
DOCS_CLAUSES = _clauses(
    "By default|When idle,|After a crash|In strict mode|On shutdown|Under load,|Before version [2-4].[0-9]|During a [verb]|With [option] set,|"
    "Inside a [noun],|As of [2019-2026],|On the first call",
    "the [noun]|each [noun]|a stale [noun]|the [noun] manager|one [noun] per host|the caller|a background task|the [noun] index|"
    "every open [noun]|the client|an expired [noun]|the [noun] of a tenant|the reader|any [noun] above the limit|a remote [noun]",
    "keeps|drops|renews|counts|copies|ignores|locks|rewrites|returns|truncates|inherits|postpones|validates|duplicates|wakes|caches|"
    "overrides|reports|shadows|splits|flushes|hands over|forgets",
    "its [noun]|the oldest [noun]|[few] entries|up to [8-512] records|the [option] value|an empty [noun]|the file lock|every second [noun]|"
    "the pending [noun]|[4-96] kilobytes|the last known [noun]|a weak reference|the caller's [noun]|the sequence number|both ends|"
    "the header only|a copy of the [noun]|the timestamp|whatever [option] allows|the checksum of the [noun]",
    "at most once|within [2-90] ms|until the next [verb]|in the order of arrival|without a round trip|unless told otherwise|"
    "per [noun]|on a separate thread|and logs a line|at the cost of [1-9] writes|before the lease ends|even if [option] is zero|"
    "as one unit|in constant time|after [few] attempts|whenever possible|from the [noun] downwards|for the lifetime of the [noun]",
    "if any|by design|in practice|as a rule|strictly speaking|for historical reasons|most of the time|where supported",
)
BLOG_CLAUSES = _clauses(
    "At first|That evening|In [place]|After the rain|By the third [form]|On [weekday]s|Years ago|Without thinking|Towards [month]|"
    "In a good year|At the back of the shop|With cold hands",
    "[friend]|the [main]|my sister|the baker|a woman on the platform|the cat|the crust|the oven|an old tin|the landlady|the whole pan|"
    "my aunt in [place]|the butcher's boy|the smell|a jar of [main]|the last slice|somebody's uncle|the [main] water|the wooden spoon",
    "wanted|forgot|carried|deserved|softened|remembered|stole|warmed|needed|improved|kept|refused|drank|hid|coloured|brought|peeled|"
    "found|salted|outlived|asked for|burned|steadied|described",
    "a fistful of [main]|the [first/best/blue] bowl|[few] crusts|the good butter|my umbrella|a story about [place]|half the [main]|"
    "the recipe|too much pepper|a green apple|the Sunday paper|a pot of [main]|the corner seat|the bones for stock|[few] eggs|a silver fork|"
    "the broken plate|a slower flame|the sourdough|yesterday's [form]|a letter|the burnt edge|something sharp",
    "by the window|with great care|on the night train|like a secret|for [few] hours|in the dark|without a word|to the end|"
    "under a cloth|as if it were [month]|between two stations|for luck|after the news|in the wrong shoes|on an empty street in [place]|"
    "and laughed|over a low flame|before the guests came|with both hands",
    "I think|as one does|for once|oddly enough|of all things|bless her|in the end|to be fair",
)
COUNCIL_CLAUSES = _clauses(
    "From [1-28] [month]|In [place],|As a rule,|In urgent cases|On request,|By resolution,|Outside [month],|Where practicable|"
    "Following the review|For [service],|Subject to weather,|In writing,",
    "the applicant|[office]|the duty officer|a resident of [place]|the contractor|the owner|a licensed trader|the panel|the occupier|"
    "the Chair|the tenant|a member of staff|the surveyor|each household|the depot at [place]|the applicant's agent",
    "must return|may inspect|will collect|cannot transfer|should display|may refuse|must renew|will publish|records|shall pay|may extend|"
    "must photograph|keeps|will replace|should label|may waive|has to declare|may withdraw|examines",
    "the signed form|one proof of address|[few] copies of the plan|the deposit of £[10-95]|a written statement|the original badge|"
    "any unused sacks|the site notice|the boundary wall|a certificate|[few] photographs|the register|bins of [120-360] litres|"
    "the reference number|a revised drawing|the insurance policy|the access road|an objection|the vehicle log|the surplus",
    "within [3-60] days|at the [place] counter|free of charge|before noon on [weekday]|at the owner's expense|for inspection|"
    "until further notice|on form [10-99]|in duplicate|with reasons|without prior notice|by recorded post|at the quarterly meeting|"
    "under the [1949-2011] scheme|in the presence of an officer|once a year|as listed below|by agreement with [office]",
    "in most cases|where required|without exception|if known|at its discretion|as before|normally|by law",
)
