"""Sentences of a library's documentation. Bound for a page: noun, verb, call, option."""
# ruff: noqa: E501, ISC004, SIM905 - one sentence a line; lists of words read better as a string

DOCS = {
    "noun": (
        "queue worker schedule lease retry batch cursor snapshot journal tenant shard stream handler timer quota checkpoint "
        "broker payload signal topic consumer registry pipeline ledger partition envelope window barrier mailbox replica"
    ).split(),
    "verb": (
        "open drain pause resume split merge replay compact claim release attach seal rotate prune mirror throttle "
        "acknowledge defer promote archive"
    ).split(),
    "adverb": "lazily eagerly atomically at most once in order on a background thread without blocking idempotently".split(),
    "option": (
        "max_inflight lease_seconds prefetch jitter dead_letter visibility backoff_base flush_every keep_alive durable "
        "window_size poll_interval strict_order checksum soft_limit grace_period compression read_only namespace fan_out"
    ).split(),
    "error": (
        "LeaseExpired QueueSealed CursorMoved JournalCorrupt QuotaExceeded TenantUnknown HandlerMissing BarrierBroken "
        "EnvelopeTooLarge PartitionLost"
    ).split(),
    "title": [
        "[verb] a [noun]",
        "How the [noun] works",
        "Using more than one [noun]",
        "[noun] and [noun]",
        "Troubleshooting the [noun]",
        "Choosing a [noun]",
        "The life of a [noun]",
        "Testing code that uses a [noun]",
        "Migrating to the new [noun]",
        "[noun] reference",
    ],
    "intro": [
        "A [noun] holds the state that a [noun] needs in order to [verb] work that was interrupted.",
        "This page explains when to [verb] a [noun], what it costs, and which settings matter.",
        "Most programs never touch the [noun] directly; you meet it the first time a [noun] refuses to [verb].",
        "The [noun] is the smallest unit Tidepool can [verb], and everything else is built from it.",
        "Use a [noun] whenever two workers must agree about a [noun] and neither may wait for the other.",
        "Since version [1-4].[0-9] the [noun] lives in its own module and can be replaced by one of yours.",
    ],
    "sentence": [
        "If the [noun] is already sealed, the call raises an error and leaves the [noun] as it was.",
        "Tidepool will [verb] the [noun] before it returns, so a crash afterwards loses at most [few] entries.",
        "The default of [2-900] is a compromise between latency and memory; raise it when each payload is smaller than [2-64] kilobytes.",
        "Calls are safe from several threads, but the order in which two threads [verb] the same [noun] is not defined.",
        "A [noun] that has not been read for [3-90] minutes is removed by the next compaction.",
        "Nothing is written to disk until the first [noun] arrives, which keeps start-up under [12-95] milliseconds.",
        "When the clock moves backwards, the [noun] keeps its old deadline and the log records both times.",
        "Do not share one [noun] between tenants: the quota is counted per [noun], not per key.",
        "On a machine with [few] cores we measured [11-98],000 operations a second with one [noun] and [few] workers.",
        "You can [verb] it by hand from the command line, which is handy after a failed deployment.",
        "Internally the [noun] is an append-only file of fixed-size records, each followed by a checksum.",
        "The callback receives the [noun] and a reason; returning a false value tells Tidepool to [verb] it again later.",
        "Names may contain letters, digits and dashes, and are compared without regard to case.",
        "A second process may [verb] the same [noun] only if it was created with sharing switched on.",
        "Should the broker become unreachable, work already claimed continues and new claims wait for up to [5-120] seconds.",
        "Large payloads are split into envelopes of [4-512] kilobytes and joined again on the reading side.",
        "The numbers in this table were taken with compression off and a journal on a local disk.",
        "Earlier releases used the word [noun] for what is now called a [noun]; the old name still works and warns once.",
        "To see what a [noun] is doing, set the log level to debug and look for lines that begin with its name.",
        "It is cheap to create a [noun] and expensive to [verb] one, so keep the number of calls small.",
        "An idle [noun] costs about [1-40] kilobytes, nearly all of it in the read buffer.",
        "Tests usually replace the real [noun] with the one in memory, which fails in the same ways but faster.",
        "There is no way to [verb] a [noun] half: either every record moves or none does.",
        "Choose a window that is longer than the slowest handler, otherwise the lease runs out while it still works.",
        "The retry counter is kept in the [noun] itself and survives a restart.",
        "Two replicas that disagree [verb] their journals and keep the longer one, unless strict ordering was asked for.",
        "Beware of long transactions: while one is open, the [noun] cannot [verb] anything behind it.",
        "Metrics for each [noun] appear under its own prefix, with a histogram of waiting times in milliseconds.",
        *["[made]"] * 22,
    ],
    "note": [
        "A [noun] created before version [1-3].[0-9] has to be migrated first.",
        "This is not available on Windows because a [noun] needs advisory locks.",
        "The [noun] is still experimental and may change between minor releases.",
        "Never [verb] a [noun] from inside its own handler.",
        "Changing this at run time affects only a [noun] opened afterwards.",
    ],
    "option_text": [
        "Number of [noun]s that may be outstanding before the [noun] waits.",
        "Seconds until a [noun] counts as lost.",
        "Whether to [verb] the [noun] when the last reader leaves.",
        "Upper bound for a [noun], in kilobytes.",
        "Share of random delay added before the next attempt to [verb].",
        "Name under which the [noun] is registered.",
        "Keep the [noun] after its [noun] was removed.",
        "How often the [noun] is written out, in milliseconds.",
    ],
    "section": [
        "When to [verb] it",
        "Opening a [noun]",
        "Ordering of a [noun]",
        "What happens when a [noun] fails",
        "Options of the [noun]",
        "A complete example",
        "Performance of the [noun]",
        "Common mistakes with a [noun]",
        "Limits",
        "See what the [noun] is doing",
        "Differences from version [1-3].[0-9]",
        "The [noun] and the [noun]",
        "[verb] from the command line",
        "A [noun] per [noun]",
        "Setting [option]",
        "If the [noun] is full",
    ],
    "docstring": [
        "[verb] the [noun] and return the number of records moved.",
        "Wait until the [noun] is empty.",
        "Register a handler for the [noun].",
    ],
}

CODE_SAMPLES = (
    "from tidepool import Pool\n\npool = Pool('[noun]-[10-99]', [option]=[2-900])\nwith pool.[verb]() as [noun]:\n"
    "    for record in [noun]:\n        print(record.key, record.age)\n",
    "import asyncio\n\nfrom tidepool.aio import connect\n\n\nasync def main():\n    link = await connect('tide://localhost:[7000-9900]')\n"
    "    try:\n        await link.[verb]('[noun]', [option]=[1-64])\n    finally:\n        await link.close()\n\n\nasyncio.run(main())\n",
    '# tidepool.conf\nnamespace = "[noun]"\n[option] = [1-400]\n[option] = true\n',
    "$ tidepool [verb] --[option] [1-90] [noun]-[100-999]\n[2-90] records in [3-80] ms, [0-5] skipped\n",
    "@pool.handler('[noun].[verb]')\ndef on_[verb](record, attempt):\n    if attempt > [2-9]:\n        raise GiveUp('[noun] is stuck')\n"
    "    store.put(record.key, record.body, [option]=record.size)\n",
    "class Counting:\n    def __init__(self, limit=[10-900]):\n        self.limit = limit\n        self.seen = 0\n\n"
    "    def [verb](self, item):\n        self.seen += 1\n        return self.seen <= self.limit\n",
    "def test_[verb]_keeps_the_[noun](tmp_path):\n    pool = Pool(tmp_path, [option]=[1-30])\n    pool.put('[noun]', b'[100-999]')\n"
    "    assert pool.[verb]() == 1\n    assert pool.size('[noun]') == 0\n",
)
