"""A learner in a process of its own: a plan in JSON as its argument, what it does on standard error."""

import json
import logging
import sys
import time
from pathlib import Path

from redis import Redis

from scrapy_winnow.learning.examples import FEATURE_VERSION
from scrapy_winnow.learning.learner import Learner, Terms, keep_learning
from scrapy_winnow.storage.keys import LearningKeys
from scrapy_winnow.storage.lease import Lease
from winnow.models.networks import BlockPerceptron
from winnow.training.refitting import Moving


def main(plan):
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    client = Redis.from_url(plan["url"])
    keys = LearningKeys.of(plan["prefix"], FEATURE_VERSION)
    lease = Lease(client, keys, plan["lease"])
    terms = Terms(min_hosts=3, margin=0.0, seed=1, moving=Moving(rate=0.01, steps=plan["steps"]))

    def progress(_done, _total, name=""):
        print(name, file=sys.stderr, flush=True)
        while name.startswith("networks") and plan["held_by"] and Path(plan["held_by"]).exists():
            time.sleep(0.01)

    learner = Learner(client, keys, lease, BlockPerceptron.load(Path(plan["model"])), terms, progress)
    keep_learning(learner, lease, interval=60, patience=0.05)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
