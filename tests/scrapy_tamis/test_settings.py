from typing import ClassVar

import pytest
from scrapy import Spider
from scrapy.settings import Settings

from scrapy_tamis.config import Config, ConfigError, unknown_settings
from scrapy_tamis.storage.clients import without_secrets
from tamis import Limits


def _config(**settings) -> Config:
    return Config.from_settings(Settings(settings))


@pytest.mark.parametrize(
    ("name", "similar"),
    [
        *(("TAMIS_HOST_BUGDET", "TAMIS_HOST_BUDGET"), ("TAMIS_METADATA", 'TAMIS_OUTPUTS = ["metadata"]')),
        *((f"TAMIS_{name}", 'TAMIS_CLEAN = {"favor": ...}') for name in ("FAVOR", "FAVOUR")),
        *(("TAMIS_LEARN", None), ("TAMIS_WARC", None)),
    ],
)
def test_a_setting_that_does_not_exist_is_named_with_the_one_that_may_be_meant(name, similar):
    (problem,) = unknown_settings(Settings({name: 1}), None)
    assert problem.startswith(f"there is no setting {name}")
    assert similar is None or problem.endswith(f"did you mean {similar}?")


def test_a_setting_in_the_environment_that_nobody_reads_is_named(monkeypatch):
    for name in ("TAMIS_REDIS_URL", "TAMIS_METRICS", "TAMIS_PROCESSES", "TAMIS_PASSWORD"):
        monkeypatch.setenv(name, "2")
    (problem,) = unknown_settings(Settings({"TAMIS_PROCESSES": 2}), None)  # as a project does that reads it itself
    assert problem == "TAMIS_METRICS of the environment has no effect: give -s TAMIS_METRICS=VALUE"


def test_a_setting_that_is_an_attribute_or_argument_of_the_spider_is_named():
    class Stories(Spider):
        TAMIS_CLEAN: ClassVar = {"scope": "page"}

    named = unknown_settings(Settings(), Stories(name="stories", TAMIS_PROCESSES="2"))
    for problem, name in zip(named, ["TAMIS_CLEAN", "TAMIS_PROCESSES"], strict=True):
        assert problem.startswith(f"{name} of the spider has no effect: it belongs in its custom_settings")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://user:p%40ss@host:6379/1?ssl_ca_certs=x", "redis://host:6379/1"),
        ("unix://:secret@/run/redis.sock", "unix:///run/redis.sock"),
        ("redis+sentinel://u:p@a:1,b:2/master/0?sentinel_password=secret", "redis+sentinel://a:1,b:2/master/0"),
        *(("redis://user:12?34@host/0", "(set)"), ("redis://host/0?password=se@cret", "(set)")),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(url, shown):
    assert without_secrets(url) == shown


def test_settings_from_the_command_line_are_text():
    config = _config(
        TAMIS_KEEP_HTML="False",
        TAMIS_HOST_BUDGET="500",
        TAMIS_REDIS_TIMEOUT="0.25",
        TAMIS_OUTPUTS="markdown,segments",
        TAMIS_FIELD_NAMES='{"text": "body", "title": null}',
        TAMIS_CLEAN='{"scope": "article", "links": "False", "limits": {"max_nodes": "500"}}',
    )
    assert config.clean == {"scope": "article", "links": False, "limits": Limits(max_nodes=500)}
    assert (config.keep_html, config.host_budget, config.redis_timeout) == (False, 500, 0.25)
    assert config.outputs == {"markdown", "segments"}
    assert _config(TAMIS_OUTPUTS='["markdown", "segments"]').outputs == {"markdown", "segments"}
    with pytest.raises(ValueError, match=r"may hold clean_html, .*, as in markdown,chunks; not \['markdown'\]"):
        _config(TAMIS_OUTPUTS="['markdown']")
    assert _config(TAMIS_OUTPUTS={"markdown": True, "segments": False}).outputs == {"markdown"}
    assert (config.field_names["text"], config.field_names["title"]) == ("body", None)
    assert config.field_names["status"] == "status"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("TAMIS_ENABLED", float("inf")), ("TAMIS_REPORT", "x" * 5_000), ("TAMIS_RULES", "~nobody/x")),
        ("TAMIS_RULES", [{"drop": "a["}]),
        *(("TAMIS_ENABLED", "perhaps"), ("TAMIS_FIELD_NAMES", {"html": None}), ("TAMIS_HOST_BUDGET", 1)),
        *(("TAMIS_HOST_BUDGET", "many"), ("TAMIS_SETTLE_PAGES", 9)),
        *(("TAMIS_STATE_BYTES", 1000), ("TAMIS_TTL", 0), ("TAMIS_CLEAN", {"limits": {"max_bytes": -1}})),
        *(("TAMIS_REDIS_TIMEOUT", 0), ("TAMIS_REDIS_TIMEOUT", "inf"), ("TAMIS_REDIS_RETRY_INTERVAL", "soon")),
        *(("TAMIS_DUPLICATES", True), ("TAMIS_DUPLICATES", "yes"), ("TAMIS_DUPLICATES_RESEMBLANCE", 0.4)),
        *(("TAMIS_DUPLICATES_RESEMBLANCE", 1.5), ("TAMIS_DUPLICATES_RESEMBLANCE", "half")),
        *(("TAMIS_OUTPUTS", ["pdf"]), ("TAMIS_FIELD_NAMES", {"body": "text"}), ("TAMIS_FIELD_NAMES", "text")),
        *(("TAMIS_FIELD_NAMES", {"text": 7}), ("TAMIS_FIELD_NAMES", {"text": "body", "title": "body"})),
        *(("TAMIS_TTL", 10**12), ("TAMIS_METRICS", "9410"), ("TAMIS_METRICS", "127.0.0.1:99999")),
        *(
            ("TAMIS_CLEAN", {"model": "nobody"}),
            ("TAMIS_CLEAN", {"colour": 1}),
            ("TAMIS_CLEAN", "page"),
            ("TAMIS_OUTPUTS", 7),
            ("TAMIS_STATE_DIR", "~nobody-of-that-name/x"),
        ),
    ],
)
def test_a_setting_that_cannot_work_is_named(name, value):
    with pytest.raises(ValueError, match=name):
        _config(**{name: value})


def test_each_argument_of_cleaning_that_cannot_work_is_named():
    with pytest.raises(ValueError, match=r"TAMIS_CLEAN has a scope .*'artikel', and has a limits .*'1MB'"):
        _config(TAMIS_CLEAN={"scope": "artikel", "limits": {"max_bytes": "1MB"}})


@pytest.mark.parametrize("value", ["", "None", None])
def test_a_setting_that_is_empty_or_none_switches_off(value):
    config = _config(**dict.fromkeys(["TAMIS_REPORT", "TAMIS_METRICS", "TAMIS_REDIS_URL", "TAMIS_RULES"], value))
    assert (config.report, config.metrics, config.redis_url, config.rules.by_site) == (None, None, None, {})


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("localhost:6379", "must begin with redis://"),
        ("http://localhost", "must begin with redis://"),
        ("unix+cluster:///run/redis.sock", "must begin with redis://"),
        ("unix://", "must name the path of a socket"),
        ("redis://localhost:99999", "must have a port"),
        ("redis://:sec/ret@localhost", "must have a port"),
        ("redis://:sec#ret@localhost", "must have a port|must not have a #"),
        ("redis://[localhost", "must have a port"),
        ("redis://localhost/first", "nothing but the number of a database"),
        ("redis://localhost?colour=red", "colour"),
        ("redis+cluster://localhost?colour=red", "colour"),
        ("redis+sentinel://:sec@ret@a,b/name?colour=red", "colour"),
        ("redis+sentinel://a:26379,b:26379", "must name the master"),
        ("redis+sentinel://a,b:99999/name", "must have a port"),
        ("redis+sentinel://a,b/name/first", "nothing but the number of a database"),
        ("redis://localhost?socket_timeout=soon", "socket_timeout"),
        ("rediss://localhost?ssl_cert_reqs=perhaps", "perhaps"),
    ],
)
def test_an_address_that_cannot_work_is_named_without_its_password(url, problem):
    with pytest.raises(ConfigError, match=f"TAMIS_REDIS_URL.*({problem})") as raised:
        _config(TAMIS_REDIS_URL=url)
    assert "ret@" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        *("redis://localhost", "redis://:p%2Fw@localhost:6379/2", "rediss://user:word@host:6380/0?ssl_cert_reqs=none"),
        *("unix:///run/redis.sock?db=1", "redis+cluster://host:7000", "rediss+cluster://user:word@host"),
        *("redis+sentinel://a,b:1/name", "rediss+sentinel://user:word@[::1]:26379,b/name/2?sentinel_password=p"),
    ],
)
def test_an_address_that_can_work_is_taken(url):
    assert _config(TAMIS_REDIS_URL=f" {url} ").redis_url == url


@pytest.mark.parametrize(
    ("line", "read_only"),
    [
        ("python /usr/bin/scrapy crawl shell", False),
        ("python /usr/bin/scrapy shell", True),
        ("python /usr/bin/scrapy -v fetch", True),
        ("python /usr/bin/scrapy --nolog parse http://a.example/", True),
        ("python -W error -m scrapy fetch http://a.example/", True),
        ("python fetch", False),
        ("python /usr/bin/scrapy", False),
    ],
)
def test_commands_for_a_look_at_a_page_are_read_only_unless_told_otherwise(monkeypatch, line, read_only):
    monkeypatch.setattr("sys.orig_argv", line.split())
    assert _config().read_only is read_only
    assert _config(TAMIS_READ_ONLY=not read_only).read_only is not read_only
