import subprocess
import sys

import pytest
from scrapy.settings import Settings, default_settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from scrapy_tamis import Addon
from scrapy_tamis.config import SETTINGS
from scrapy_tamis.pipeline import CleanItems
from scrapy_tamis.project import settings as project
from scrapy_tamis.report.crawl import CrawlProgress

MANUAL = {
    "EXTENSIONS": {"scrapy_tamis.extension.Tamis": 0, "scrapy_tamis.report.crawl.CrawlProgress": 10},
    "SPIDER_MIDDLEWARES": {"scrapy_tamis.middleware.CountNodes": 45},
    "ITEM_PIPELINES": {"scrapy_tamis.pipeline.CleanItems": 100},
}


def _with_addon(settings: dict) -> Settings:
    made = Settings(settings)
    Addon().update_settings(made)
    return made


def _resolved(settings: Settings) -> dict:
    """All settings, with components as the classes in the order in which Scrapy will use them."""
    values = {name: value for name, value in settings.copy_to_dict().items() if name not in MANUAL}
    for name in MANUAL:
        read = getattr(settings, "get_component_priority_dict_with_base", None) or settings.getwithbase  # of 2.14
        components = read(name)
        values[name] = [load_object(path) for path in build_component_list(components)]
    return values


def test_the_addon_and_the_manual_configuration_give_the_same_settings():
    assert _resolved(_with_addon({})) == _resolved(Settings(MANUAL))


@pytest.mark.parametrize("mode", ["mark", "drop"])
def test_the_addon_marks_duplicates_where_the_setting_asks_for_it(mode):
    duplicates = {"TAMIS_DUPLICATES": mode}
    by_hand = {**MANUAL["ITEM_PIPELINES"], "scrapy_tamis.MarkDuplicates": 110}
    by_hand = Settings({**MANUAL, **duplicates, "ITEM_PIPELINES": by_hand})
    assert _resolved(_with_addon(duplicates)) == _resolved(by_hand)


@pytest.mark.parametrize("name", MANUAL)
@pytest.mark.parametrize("order", [7, None])
def test_what_the_user_says_of_a_component_wins(name, order):
    settings = _with_addon({name: {next(iter(MANUAL[name])): order}})
    others = {CrawlProgress: 10} if name == "EXTENSIONS" else {}
    assert settings[name] == {next(iter(MANUAL[name])): order, **others}


def test_the_addon_adds_to_the_users_components_and_changes_nothing_else():
    settings = _with_addon({"ITEM_PIPELINES": {"scrapy.pipelines.images.ImagesPipeline": 1}, "USER_AGENT": "mine"})
    assert settings["ITEM_PIPELINES"] == {"scrapy.pipelines.images.ImagesPipeline": 1, CleanItems: 100}
    assert settings["USER_AGENT"] == "mine"
    plain = Settings().copy_to_dict()
    changed = {name for name, value in _with_addon({}).copy_to_dict().items() if plain.get(name) != value}
    assert changed == {*MANUAL}


def test_the_projects_own_settings_are_all_known_to_scrapy_or_to_us():
    known = {*vars(default_settings), *SETTINGS, "REMOTE_CONTROL_ENABLED"}  # that of Scrapy 2.19
    assert {name for name in vars(project) if name.isupper()} <= known
    assert project.ROBOTSTXT_OBEY is True


def test_an_addon_without_its_packages_says_what_installs_them():
    program = (
        "import sys; sys.modules['redis'] = None\n"
        "from scrapy.settings import Settings; import scrapy_tamis; scrapy_tamis.Addon().update_settings(Settings())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("redis is not installed: pip install 'tamis[scrapy]'\n")
